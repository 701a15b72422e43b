/** Checks that the journal can be written at its configured place. Creates nothing. */
import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { type Finding, fail, ok, outage, warn } from '../../config/finding.js'
import { limits } from '../../config/limits.js'
import { peek } from '../../store/engine/open-database.js'
import { assertUnlocked, pathOf } from '../../store/journal/lock.js'
import { assertKnown, type CountedAccount } from '../../store/known-accounts.js'
import { assertSameSeed } from '../../store/open.js'
import { first, sql } from '../../store/sql.js'
import { readAccount, readBinding } from '../../store/steps/operator-steps.js'

export type JournalAccounts = Readonly<Partial<Record<'relayer' | 'minter', CountedAccount>>>

/** Facts that do not come from the journal. */
export type JournalFacts = {
  /** The fingerprint of the seed of the treasury key. Absent when there is no readable key. */
  readonly seed?: string | undefined
  /** The accounts whose transactions the ledger must know. */
  readonly accounts?: JournalAccounts
}

const key = 'settlement.journal'

export async function probeJournal(
  journal: string | undefined,
  /** Absent where the caller is about to lock and read the journal itself. */
  facts?: JournalFacts,
): Promise<Finding[]> {
  if (journal === undefined) return []
  if (journal === 'none') {
    return [warn(key, 'is "none": pending work is lost on restart')]
  }
  const folder = dirname(journal)
  const misplaced = await judgeFile(key, journal)
  if (misplaced) return [misplaced]
  const content = facts ? await judgeContent(journal, facts) : [writable(journal)]
  return [...(await judgeSpace(key, folder)), ...content]
}

/** A file that the daemon writes, and that need not exist yet. */
export async function judgeFile(about: string, file: string): Promise<Finding | undefined> {
  const misplaced = await judgeFolder(about, dirname(file))
  if (misplaced) return misplaced
  const there = await stat(file).catch(() => undefined)
  if (!there) return undefined
  if (!there.isFile()) return fail(about, `${file} is no file`)
  if (!(await allows(file, constants.R_OK | constants.W_OK))) {
    return fail(about, `${file} is not readable and writable`)
  }
  return undefined
}

/** A folder that the daemon writes files into. */
export async function judgeFolder(about: string, folder: string): Promise<Finding | undefined> {
  const there = await stat(folder).catch(() => undefined)
  if (!there) return fail(about, `the folder ${folder} does not exist`)
  if (!there.isDirectory()) return fail(about, `${folder} is no folder`)
  if (await allows(folder, constants.W_OK | constants.X_OK)) return undefined
  return fail(about, `the folder ${folder} is not writable`)
}

const allows = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  )

export async function judgeSpace(about: string, folder: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const message = `${Math.floor(free / 1024 ** 2)} MiB are free in ${folder}`
  if (free < limits.journalFreeBytesMin) return [outage(about, `only ${message}`)]
  return free < limits.freeBytesWarn ? [warn(about, `only ${message}`)] : []
}

const writable = (journal: string): Finding => ok(key, `${journal} can be written`)

/** Reads the files like a start, and changes nothing. */
async function judgeContent(journal: string, { seed, accounts = {} }: JournalFacts): Promise<Finding[]> {
  try {
    await assertUnlocked(journal)
    const { value, report } = peek(pathOf(journal), ledgerFacts())
    if (seed !== undefined) assertSameSeed(value.binding, seed)
    for (const name of ['relayer', 'minter'] as const) {
      if (accounts[name]) await assertKnown(name, accounts[name], value[name])
    }
    const message = `${journal} has ${value.events} records`
    if (report.tornBytes === 0) return [ok(key, message)]
    return [warn(key, `${message} and ${report.tornBytes} bytes of one that a crash cut short`)]
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    // The RPC is judged elsewhere.
    if (error.code.startsWith('rpc_')) return [writable(journal)]
    // The holder of this journal is our own daemon. It may go on while its configuration is edited.
    if (error.code === 'ledger_locked') {
      return [ok(key, `${problemOf(error, journal)}; its records were not read`)]
    }
    if (error.code === 'seed_mismatch') return [{ level: 'fail', ...keyAndMessage(error.message) }]
    return [fail(key, problemOf(error, journal))]
  }
}

function* ledgerFacts() {
  const { applied } = (yield* first(sql`SELECT applied FROM ledger`)) ?? {}
  return {
    binding: yield* readBinding(),
    relayer: yield* readAccount('relayer'),
    minter: yield* readAccount('minter'),
    events: applied as number,
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
