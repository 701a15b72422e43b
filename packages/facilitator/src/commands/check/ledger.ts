/** Checks the ledger: that its journal can be written or its database reached, and that what is there is ours. Changes nothing. */
import type { Secret } from '@svc-zerc20/protocol'
import type { PartialConfig } from '../../config/config.js'
import { type Finding, fail, findingOf, ok, warn } from '../../config/finding.js'
import { assertOurs, type Ours, readBound } from '../../store/assert-ours.js'
import { peek } from '../../store/engine/open-database.js'
import { assertUnlocked, pathOf } from '../../store/journal/lock.js'
import { assertKnown, type CountedAccount } from '../../store/known-accounts.js'
import { refusalOf } from '../../store/open.js'
import type { Database } from '../../store/postgres/client.js'
import { peekPostgres } from '../../store/postgres/prepare-schema.js'
import { first, sql } from '../../store/sql.js'
import { readAccount } from '../../store/steps/operator-steps.js'
import { judgeFile, judgeSpace } from './files.js'

/** What the ledger must fit. Each is absent while it is not known for sure. */
export type LedgerFacts = {
  readonly ours?: Ours | undefined
  /** The accounts whose transactions the ledger must know. */
  readonly accounts?: Readonly<Partial<Record<'relayer' | 'minter', CountedAccount>>> | undefined
}

const key = 'settlement.journal'

export async function probeLedger(
  { storage: { url }, settlement: { journal } }: PartialConfig,
  password: Secret<string> | undefined,
  /** Absent where the caller is about to open the ledger itself. */
  facts?: LedgerFacts,
): Promise<Finding[]> {
  if (url !== undefined) {
    if (journal !== undefined && journal !== 'none') {
      return [fail(key, 'must be "none": with storage.url the database is the journal')]
    }
    return facts ? judgeDatabase({ url, password }, facts) : []
  }
  if (journal === undefined) return []
  if (journal === 'none') return [warn(key, 'is "none": pending work is lost on restart')]
  const misplaced = await judgeFile(key, journal)
  if (misplaced) return [misplaced]
  const content = facts ? await judgeJournal(journal, facts) : ok(key, `${journal} can be written`)
  return [...(await judgeSpace(key, journal)), content]
}

/** Reads the files like a start. */
async function judgeJournal(journal: string, { ours, accounts = {} }: LedgerFacts): Promise<Finding> {
  try {
    await assertUnlocked(journal)
    const { value, report } = peek(pathOf(journal), question())
    if (ours) assertOurs(value.bound, ours, key)
    for (const name of ['relayer', 'minter'] as const) {
      if (accounts[name]) await assertKnown(name, accounts[name], value[name])
    }
    const message = `${journal} has ${value.events} records`
    if (report.tornBytes === 0) return ok(key, message)
    return warn(key, `${message} and ${report.tornBytes} bytes of one that a crash cut short`)
  } catch (error) {
    const refusal = refusalOf(error, undefined)
    const finding = findingOf(refusal, key)
    // The holder of this journal is our own daemon. It may go on while its configuration is edited.
    return refusal.code === 'ledger_locked'
      ? ok(key, `${finding.message}; its records were not read`)
      : finding
  }
}

async function judgeDatabase(database: Database, { ours }: LedgerFacts): Promise<Finding[]> {
  const setting = 'storage.url'
  try {
    const { value, daemons, migrations, unsafe } = await peekPostgres(database, question())
    if (value && ours) assertOurs(value.bound, ours, setting)
    const older = migrations.length > 0 ? 'has older tables' : 'is empty'
    const content = value ? `has ${value.events} records` : older
    const held = daemons.length === 0 ? '' : `; in use by ${daemons.join(', ')}`
    const old = migrations.map(({ what }) => `; a start changes its tables: ${what}`).join('')
    return [
      ok(setting, `the database ${content}${held}${old}`),
      ...unsafe.map((message) => warn(setting, message)),
    ]
  } catch (error) {
    return [findingOf(refusalOf(error, database), setting)]
  }
}

function* question() {
  const { applied } = (yield* first(sql`SELECT applied FROM ledger`)) ?? {}
  return {
    bound: yield* readBound(),
    relayer: yield* readAccount('relayer'),
    minter: yield* readAccount('minter'),
    events: applied as number,
  }
}
