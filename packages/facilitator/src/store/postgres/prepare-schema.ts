/**
 * The tables of a PostgreSQL database: made where they are missing and migrated where they are old, by one at a time; and what
 * a start would find there, asked without changing anything.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { limits } from '../../config/limits.js'
import { create, lackedBy, type Migration, migrate, newId } from '../migrate.js'
import { assertHere, isElsewhere } from '../move/moved.js'
import { postgres } from '../schema.js'
import { type Step, serverNow, sql } from '../sql.js'
import { type Client, connect, type Database, long, runStep, type Send } from './client.js'
import { commit, inTransaction } from './transaction.js'

/** Any number that other programs of this database do not take. */
const schemaLock = 0x5c20_7302

/** A daemon that makes or changes tables waits here for its turn. */
export const alone = sql`SELECT pg_advisory_xact_lock(${schemaLock})`

/**
 * The tables as a daemon needs them. Throws for a ledger that was moved, unless the operator goes on with what is here: then
 * it is an older copy.
 */
export async function openTables(client: Client, database: Database, isCopyAccepted: boolean): Promise<void> {
  if ((await lacked(client))?.length !== 0) await prepareSchema(database)
  const [ledger] = await client.read((send) => send(sql`SELECT state FROM ledger`))
  if (!isCopyAccepted) return assertHere(ledger?.state, 'storage.url')
  if (!isElsewhere(ledger?.state)) return
  await inTransaction(client, [sql`UPDATE ledger SET state = 'copy'`], (send) => send(commit))
}

/** Gives what was migrated. Throws `SvcError('ledger_newer')` for a schema that is newer than ours. */
export async function prepareSchema(database: Database): Promise<readonly Migration[]> {
  const client = connect(database, long)
  const done = inTransaction(client, [alone], async (send) => {
    const sent: Promise<unknown>[] = []
    // No step is half done while its tables change.
    if ((await versionIn(send)) !== undefined) await send(sql`SELECT applied FROM ledger FOR UPDATE`)
    else await runStep(create(postgres, newId()), send, sent)
    const migrated = await runStep(migrate(postgres, client.migrations), send, sent)
    await Promise.all([...sent, send(commit)])
    return migrated
  })
  return done.finally(client.close)
}

/** The version of the tables; undefined when there are none. Throws `SvcError('config_invalid')` for an encoding that we cannot use. */
export async function versionIn(send: Send): Promise<number | undefined> {
  const [found] = await send(
    sql`SELECT to_regclass('ledger') IS NOT NULL AS is_there, current_setting('server_encoding') AS encoding`,
  )
  // Hashes of events are of their UTF-8 bytes, here and on the server.
  if (found?.encoding !== 'UTF8') {
    const what = `storage.url: the database is in ${found?.encoding}`
    throw new SvcError('config_invalid', `${what}; create one with ENCODING 'UTF8' TEMPLATE template0`)
  }
  if (!found.is_there) return undefined
  const [ledger] = await send(sql`SELECT schema_version FROM ledger`)
  if (!ledger) throw new SvcError('ledger_corrupt', 'storage.url: the table of the ledger is empty')
  return ledger.schema_version
}

/** The migrations that a start or `migrate` would make; undefined when it would make the tables. */
export const lacked = (client: Client): Promise<readonly Migration[] | undefined> =>
  client.read(async (send) => {
    const version = await versionIn(send)
    return version === undefined ? undefined : lackedBy(version, client.migrations)
  })

export type Peek<T> = {
  /** The answer of the ledger; absent while its tables are to be made or changed. */
  readonly value?: T
  /** The daemons that use it. */
  readonly daemons: readonly string[]
  /** The migrations that a start would make. */
  readonly migrations: readonly Migration[]
  /** Why a crash of the server could lose what a daemon was told is durable. */
  readonly unsafe: readonly string[]
}

/** Asks what a start would find, and changes nothing. Throws as a start does, and what the server says when it refuses. */
export async function peekPostgres<T>(database: Database, question: Step<T>): Promise<Peek<T>> {
  const client = connect(database)
  try {
    return await client.read(async (send) => {
      const version = await versionIn(send)
      const unsafe = await runStep(unsafeSettings(), send)
      if (version === undefined) return { daemons: [], migrations: [], unsafe }
      const migrations = lackedBy(version, client.migrations)
      const [ledger] = await send(sql`SELECT state FROM ledger`)
      assertHere(ledger?.state, 'storage.url')
      const daemons = await daemonsIn(send)
      if (migrations.length > 0) return { daemons, migrations, unsafe }
      return { value: await runStep(question, send), daemons, migrations, unsafe }
    })
  } finally {
    await client.close()
  }
}

/**
 * Settings of the server with which a crash could lose what a daemon was told is durable, each as a warning. Only its operator
 * can change them: `synchronous_commit` is set by our sessions.
 */
export function* unsafeSettings(): Step<readonly string[]> {
  const off = yield sql`
    SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name`
  return off.map(
    ({ name }) => `the server has ${name} = off: a crash of its machine may lose accepted payments`,
  )
}

/** The daemons that use the ledger. */
const daemonsIn = async (send: Send): Promise<readonly string[]> => {
  const daemons = await send(sql`
    SELECT holder FROM daemon WHERE alive_ms > ${serverNow} - ${limits.leaseMs}
    ORDER BY holder`)
  return daemons.map(({ holder }) => holder)
}
