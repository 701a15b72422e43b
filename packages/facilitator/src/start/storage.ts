/** The ledger of this configuration, opened, with a word about what its journal held. */
import { giveBackMemory } from '../adapters/give-back-memory.js'
import { type OpenLedger, openLedger } from '../adapters/open-ledger.js'
import type { Config } from '../config/config.js'
import { limits } from '../limits.js'
import type { Clock } from '../payment/ports.js'
import type { Log } from '../telemetry/events.js'

export async function openStorage(deps: {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  /** Instead of what is configured. */
  readonly journal?: string
  readonly expiredRetentionSeconds?: number
}): Promise<OpenLedger> {
  const { log } = deps
  const { network, settlement, daemon } = deps.config
  const storage = await openLedger({
    journal: deps.journal ?? settlement.journal,
    binding: {
      chainId: network.chain_id,
      token: network.token,
      ...(settlement.permit_burner !== undefined && { helper: settlement.permit_burner }),
    },
    clock: deps.clock,
    openMax: daemon.max_open_challenges,
    expiredRetentionSeconds: deps.expiredRetentionSeconds ?? settlement.expired_challenge_retention_seconds,
    unmatchedMax: { perChallenge: limits.unmatchedPerChallengeMax, total: limits.unmatchedBurnsMax },
    onJournalFailure: (err) => log({ event: 'journal.failed', err }),
  })
  const { records = 0, tornBytes = 0 } = storage.replay ?? {}
  if (storage.replay) log({ event: 'journal.replayed', records })
  // Reading a long journal leaves much behind, and a daemon that serves little would hold it for hours.
  if (records >= limits.replayedRecordsMany) giveBackMemory()
  if (tornBytes > 0) log({ event: 'journal.torn', bytes: tornBytes })
  const closing = new AbortController()
  const { signal } = closing
  // Not before the daemon serves: a start must not wait for it.
  void deps.clock.sleep(limits.compactionDelayMs, signal).then(async () => {
    if (!signal.aborted) await compact(storage, log)
  })
  return {
    ...storage,
    close() {
      closing.abort()
      return storage.close()
    },
  }
}

async function compact(storage: OpenLedger, log: Log): Promise<void> {
  try {
    const compaction = await storage.compact()
    if (compaction) {
      giveBackMemory()
      log({ event: 'journal.compacted', ...compaction })
    }
  } catch (err) {
    // The old file is as good, only longer.
    log({ event: 'journal.compaction_failed', err })
  }
}
