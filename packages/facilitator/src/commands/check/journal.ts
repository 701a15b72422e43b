/** Checks that the journal can be written at its configured place. Creates nothing. */
import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SvcError, unixSeconds } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import type { Finding } from '../../config/finding.js'
import { peek } from '../../store/engine/open-database.js'
import { assertUnlocked, pathOf } from '../../store/journal/lock.js'
import { assertKnown, type SendingAccount } from '../../store/known-accounts.js'
import { assertSameSeed } from '../../store/open.js'
import { first, sql } from '../../store/sql.js'
import { readAccount, readBinding } from '../../store/steps/operator-steps.js'
import { type EpochBurns, openEpochs } from './foreign-counts.js'
import { checkLimits } from './limits.js'

/**
 * Reads a journal without changing it. Throws `SvcError`: `journal_locked` when a daemon uses it, any other code when
 * it cannot be replayed.
 */
export type InspectJournal = (
  file: string,
  /** The fingerprint of the seed of the treasury key. Absent when there is no readable key. */
  seed?: string,
  /** The accounts whose transactions the journal must know. */
  accounts?: JournalAccounts,
) => Promise<{
  readonly records: number
  readonly tornBytes: number
  /** Epochs in which something can still be paid or minted. */
  readonly epochs?: readonly EpochBurns[]
}>

export type JournalAccounts = Readonly<Partial<Record<'relayer' | 'minter', SendingAccount>>>

/** Reads the files like a start, and changes nothing. */
export const replayJournal: InspectJournal = async (file, seed, accounts = {}) => {
  await assertUnlocked(file)
  const { value, report } = peek(pathOf(file), ledgerFacts(unixSeconds(systemClock)))
  if (seed !== undefined) assertSameSeed(value.binding, seed)
  for (const name of ['relayer', 'minter'] as const) {
    if (accounts[name]) await assertKnown(name, accounts[name], value[name])
  }
  return { records: value.events, tornBytes: report.tornBytes, epochs: value.epochs }
}

function* ledgerFacts(now: number) {
  const { applied } = (yield* first(sql`SELECT applied FROM ledger`)) ?? {}
  return {
    binding: yield* readBinding(),
    relayer: yield* readAccount('relayer'),
    minter: yield* readAccount('minter'),
    events: applied as number,
    epochs: yield* openEpochs(now),
  }
}

const key = 'settlement.journal'
const fail = (message: string, start?: Finding['start'], about = key): Finding => ({
  level: 'fail',
  key: about,
  message,
  ...(start && { start }),
})

/** What is known beside the journal. */
export type JournalFacts = {
  readonly seed?: string | undefined
  readonly accounts?: JournalAccounts
  /** Looks on the chain for counts of the journal's epochs that the journal does not explain. */
  readonly foreignCounts?: (epochs: readonly EpochBurns[]) => Promise<Finding[]>
}

export async function probeJournal(
  journal: string | undefined,
  inspect: InspectJournal | undefined,
  given: JournalFacts = {},
): Promise<Finding[]> {
  if (journal === undefined) return []
  if (journal === 'none') {
    return [{ level: 'warn', key, message: 'is "none": pending work is lost on restart' }]
  }
  const folder = dirname(journal)
  const misplaced = await judgePlace(key, journal)
  if (misplaced) return [misplaced]
  const [space, content] = await Promise.all([judgeSpace(key, folder), judgeContent(journal, inspect, given)])
  return [...space, ...content]
}

/** A file that the daemon writes, and that need not exist yet. */
export async function judgePlace(about: string, file: string): Promise<Finding | undefined> {
  const misplaced = await judgeFolder(about, dirname(file))
  if (misplaced) return misplaced
  const there = await stat(file).catch(() => undefined)
  if (!there) return undefined
  if (!there.isFile()) return fail(`${file} is no file`, undefined, about)
  if (!(await allows(file, constants.R_OK | constants.W_OK))) {
    return fail(`${file} is not readable and writable`, undefined, about)
  }
  return undefined
}

/** A folder that the daemon writes files into. */
export async function judgeFolder(about: string, folder: string): Promise<Finding | undefined> {
  const there = await stat(folder).catch(() => undefined)
  if (!there) return fail(`the folder ${folder} does not exist`, undefined, about)
  if (!there.isDirectory()) return fail(`${folder} is no folder`, undefined, about)
  if (await allows(folder, constants.W_OK | constants.X_OK)) return undefined
  return fail(`the folder ${folder} is not writable`, undefined, about)
}

export const allows = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  )

export async function judgeSpace(about: string, folder: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const message = `${Math.floor(free / 1024 ** 2)} MiB are free in ${folder}`
  if (free < checkLimits.freeBytesFail) return [fail(`only ${message}`, 'later', about)]
  return free < checkLimits.freeBytesWarn ? [{ level: 'warn', key: about, message: `only ${message}` }] : []
}

async function judgeContent(
  journal: string,
  inspect: InspectJournal | undefined,
  { seed, accounts, foreignCounts }: JournalFacts,
): Promise<Finding[]> {
  if (!inspect) return [{ level: 'ok', key, message: `${journal} can be written` }]
  try {
    const { records, tornBytes, epochs = [] } = await inspect(journal, seed, accounts)
    const foreign = (await foreignCounts?.(epochs)) ?? []
    const message = `${journal} has ${records} records`
    if (tornBytes === 0) return [{ level: 'ok', key, message }, ...foreign]
    const torn = `${message} and ${tornBytes} bytes of one that a crash cut short`
    return [{ level: 'warn', key, message: torn }, ...foreign]
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    // The RPC is judged elsewhere.
    if (error.code.startsWith('rpc_')) return [{ level: 'ok', key, message: `${journal} can be written` }]
    // Whoever has this journal is our own daemon. It may go on while its configuration is edited.
    if (error.code === 'journal_locked') {
      return [{ level: 'ok', key, message: `${problemOf(error, journal)}; its records were not read` }]
    }
    if (error.code === 'seed_mismatch') return [{ level: 'fail', ...keyAndMessage(error.message) }]
    return [fail(problemOf(error, journal))]
  }
}

function problemOf({ message }: SvcError, journal: string): string {
  const problem = message.replace(`${key}: `, '')
  return problem.includes(journal) ? problem : `${journal}: ${problem}`
}

/** Splits the one-line error of a start into the parts of a finding. */
function keyAndMessage(text: string): Pick<Finding, 'key' | 'message'> {
  const end = text.indexOf(': ')
  return { key: text.slice(0, end), message: text.slice(end + 2) }
}
