/** Checks that the journal can be written at its configured place. Creates nothing. */
import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { addressFileOf, assertAddressesOf } from '../addresses/mined-file.js'
import { assertSameSeed, type SeedCheck } from '../addresses/seed-check.js'
import type { Finding } from '../finding.js'
import { readEvent } from '../ledger/events/event-line.js'
import { assertUnlocked, pathOf } from '../ledger/journal/lock.js'
import { assertNewest, markFileOf, readMark } from '../ledger/journal/mark.js'
import { replayFile } from '../ledger/journal/replay.js'
import { createLedgerState } from '../ledger/state/state.js'
import { checkLimits } from './limits.js'

/**
 * Reads a journal without changing it. Throws `SvcError`: `journal_locked` when a daemon uses it, any other code when
 * it cannot be replayed.
 */
export type InspectJournal = (
  file: string,
  /** The check against the treasury key's seed. Absent when there is no readable key. */
  seed?: SeedCheck,
) => Promise<{ readonly records: number; readonly tornBytes: number }>

/** Takes the lock and replays the file like a start, then drops the result. */
export const replayJournal: InspectJournal = async (file, seed) => {
  await assertUnlocked(file)
  const state = createLedgerState()
  const report = await replayFile(file, (line) => state.apply(readEvent(line)))
  const path = pathOf(file)
  const { id, generation = 0 } = state.binding() ?? {}
  assertNewest(path, { id, generation, records: report.records }, await readMark(markFileOf(path)))
  if (seed) {
    assertSameSeed(state, seed)
    await assertAddressesOf(addressFileOf(file), seed.fingerprint)
  }
  return report
}

const key = 'settlement.journal'
const fail = (message: string, start?: Finding['start']): Finding => ({
  level: 'fail',
  key,
  message,
  ...(start && { start }),
})

export async function probeJournal(
  journal: string | undefined,
  inspect: InspectJournal | undefined,
  seed?: SeedCheck,
): Promise<Finding[]> {
  if (journal === undefined) return []
  if (journal === 'none') {
    return [{ level: 'warn', key, message: 'is "none": pending work is lost on restart' }]
  }
  const folder = dirname(journal)
  const misplaced = await judgePlace(journal, folder)
  if (misplaced) return [misplaced]
  const [space, content] = await Promise.all([judgeSpace(folder), judgeContent(journal, inspect, seed)])
  return [...space, ...content]
}

async function judgePlace(journal: string, folder: string): Promise<Finding | undefined> {
  const parent = await stat(folder).catch(() => undefined)
  if (!parent) return fail(`the folder ${folder} does not exist`)
  if (!parent.isDirectory()) return fail(`${folder} is no folder`)
  if (!(await allows(folder, constants.W_OK | constants.X_OK)))
    return fail(`the folder ${folder} is not writable`)
  const file = await stat(journal).catch(() => undefined)
  if (!file) return undefined
  if (!file.isFile()) return fail(`${journal} is no file`)
  if (!(await allows(journal, constants.R_OK | constants.W_OK))) {
    return fail(`${journal} is not readable and writable`)
  }
  return undefined
}

const allows = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  )

async function judgeSpace(folder: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const message = `${Math.floor(free / 1024 ** 2)} MiB are free in ${folder}`
  if (free < checkLimits.freeBytesFail) return [fail(`only ${message}`, 'later')]
  return free < checkLimits.freeBytesWarn ? [{ level: 'warn', key, message: `only ${message}` }] : []
}

async function judgeContent(
  journal: string,
  inspect: InspectJournal | undefined,
  seed: SeedCheck | undefined,
): Promise<Finding[]> {
  if (!inspect) return [{ level: 'ok', key, message: `${journal} can be written` }]
  try {
    const { records, tornBytes } = await inspect(journal, seed)
    const message = `${journal} has ${records} records`
    if (tornBytes === 0) return [{ level: 'ok', key, message }]
    return [
      { level: 'warn', key, message: `${message} and ${tornBytes} bytes of one that a crash cut short` },
    ]
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    if (error.code === 'seed_mismatch') return [{ level: 'fail', ...keyAndMessage(error.message) }]
    const problem = error.message.replace(`${key}: `, '')
    const message = problem.includes(journal) ? problem : `${journal}: ${problem}`
    return [fail(message, error.code === 'journal_locked' ? 'later' : undefined)]
  }
}

/** Splits the one-line error of a start into the parts of a finding. */
function keyAndMessage(text: string): Pick<Finding, 'key' | 'message'> {
  const end = text.indexOf(': ')
  return { key: text.slice(0, end), message: text.slice(end + 2) }
}
