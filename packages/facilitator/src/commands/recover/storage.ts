/** The ledger of a recovery: the daemon's own, or a copy of it that a dry run may change. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config/config.js'
import type { Clock } from '../../payment/ports.js'
import { openStorage, type Storage } from '../../start/storage.js'
import { copyDatabase } from '../../store/backup.js'
import { assertUnlocked } from '../../store/journal/lock.js'
import type { Log } from '../../telemetry/events.js'

export type RecoveryStorageOptions = {
  readonly config: Config
  readonly dryRun: boolean
  readonly clock: Clock
  readonly log: Log
  /** Goes on with a journal that is not the newest; transfers are then followed from the start again. */
  readonly acceptJournal: boolean
}

/** Opens the ledger without dropping expired challenges. A dry run gets a copy of it. */
export async function openRecoveryStorage(
  { config, dryRun, clock, log, acceptJournal }: RecoveryStorageOptions,
  seed: Uint8Array,
): Promise<{ readonly storage: Storage; close(): Promise<void> }> {
  const expiredRetentionSeconds = Number.POSITIVE_INFINITY
  const { journal } = config.settlement
  if (!dryRun || journal === 'none') {
    const storage = await openStorage({ config, clock, log, seed, expiredRetentionSeconds, acceptJournal })
    return { storage, close: () => storage.close() }
  }
  await assertUnlocked(journal)
  const folder = mkdtempSync(join(tmpdir(), 'svc-recover-'))
  // The copy holds private data, so it is removed however the run ends.
  const dropCopy = () => rmSync(folder, { recursive: true, force: true })
  try {
    const copy = join(folder, 'journal.jsonl')
    if (existsSync(journal)) copyFileSync(journal, copy)
    copyDatabase(journal, copy)
    const own = { journal: copy, acceptJournal }
    const storage = await openStorage({ config, clock, log, seed, expiredRetentionSeconds, ...own })
    return { storage, close: () => storage.close().finally(dropCopy) }
  } catch (error) {
    dropCopy()
    throw error
  }
}
