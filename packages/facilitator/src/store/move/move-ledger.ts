/** `move`: a stopped ledger from its files to a PostgreSQL database. A move that was cut off is run again. */
import { existsSync } from 'node:fs'
import { SvcError } from '@svc-zerc20/protocol'
import { databaseOf, openBeside, type TidyLimits } from '../engine/open-database.js'
import { type Connection, openSqlite } from '../engine/sqlite.js'
import type { GroupSettings } from '../group.js'
import { lockJournal } from '../journal/lock.js'
import { create, migrate } from '../migrate.js'
import { connect, type Database, long, runStep, type Send } from '../postgres/client.js'
import { alone, versionIn } from '../postgres/prepare-schema.js'
import { commit, inTransaction } from '../postgres/transaction.js'
import { postgres } from '../schema.js'
import { sql } from '../sql.js'
import { type Copied, copyTables, type Say, type Side, type Table } from './copy-tables.js'
import { type Found, leftOf, movedTo, movingTo, type Place } from './moved.js'

export type MoveDeps = {
  /** The journal file of the ledger. */
  readonly journal: string
  readonly database: Database
  /** The database's address without its user, for people. */
  readonly databaseName: Place
  readonly settings: GroupSettings
  readonly limits: TidyLimits
  readonly say: Say
}

/** The copied tables; empty when only the end of an earlier move was missing. */
type Moved = Promise<readonly Copied[]>

/** Throws `SvcError('ledger_locked')` while a daemon uses it, and when the target is not empty. */
export async function moveToDatabase(deps: MoveDeps): Moved {
  const { database, databaseName: place, say } = deps
  const lock = await lockJournal(deps.journal)
  const client = connect(database, long)
  try {
    if (!existsSync(databaseOf(lock.path))) throw nothing(lock.path)
    return await inTransaction(client, [alone], async (send) => {
      const target = serverSide(send)
      const there = await ledgerOn(send)
      const source = ledgerIn(lock.path) ?? fail()
      const left = leftOf(source, there, place)
      let copied: readonly Copied[] = []
      if (left === 'all') {
        // Nothing is there, so a move that began has moved nothing.
        if (source.state === movingTo(place)) write(lock.path, 'live')
        if (!there) await target.run(create(postgres, ''))
        await target.run(migrate(postgres, client.migrations))
        await send(sql`DELETE FROM ledger`)
        const { connection, close } = openBeside(lock.path, deps.settings, deps.limits)
        try {
          copied = await copyTables(sqliteSide(connection), target, tablesOf(connection), say)
        } finally {
          close()
        }
        await setSequences(send)
        write(lock.path, movingTo(place))
      }
      await send(commit)
      write(lock.path, movedTo(place))
      return copied
    })
  } finally {
    await client.close()
    await lock.release()
  }
}

const nothing = (place: Place) => new SvcError('ledger_unusable', `move: there is no ledger at ${place}`)

const fail = (): never => {
  throw new SvcError('ledger_corrupt', 'move: the table of the ledger is empty')
}

const sqliteSide = (connection: Connection): Side => ({ run: async (step) => connection.run(step) })

const serverSide = (send: Send): Side => ({
  async run(step) {
    const sent: Promise<unknown>[] = []
    const value = await runStep(step, send, sent)
    await Promise.all(sent)
    return value
  },
})

async function ledgerOn(send: Send): Promise<Found | undefined> {
  if ((await versionIn(send)) === undefined) return undefined
  // A writer is waited for, and then waits for us.
  const [ledger] = await send(sql`SELECT id, applied, state FROM ledger FOR UPDATE`)
  return (ledger as Found | undefined) ?? fail()
}

function ledgerIn(path: string): Found | undefined {
  if (!existsSync(databaseOf(path))) return undefined
  const connection = openSqlite(databaseOf(path), { isReader: true })
  try {
    return connection.query(sql`SELECT id, applied, state FROM ledger`)[0] as Found | undefined
  } finally {
    connection.close()
  }
}

/** Durable when it returns. */
function write(path: string, state: string): void {
  const connection = openSqlite(databaseOf(path))
  try {
    connection.exec('PRAGMA synchronous = FULL')
    connection.query(sql`UPDATE ledger SET state = ${state}`)
  } finally {
    connection.close()
  }
}

/** Numbers that the server gives by itself go on behind the largest one. */
async function setSequences(send: Send): Promise<void> {
  const counted = await send(sql`
    SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = current_schema() AND is_identity = 'YES'`)
  for (const { table_name: table, column_name: column } of counted) {
    const text = `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), coalesce(max(${column}), 0) + 1, false) FROM ${table}`
    await send({ text, values: [] })
  }
}

function tablesOf(connection: Connection): readonly Table[] {
  const names = connection.query(sql`
    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
  return names.map(({ name }) => {
    const columns = connection.query(sql`SELECT name, pk FROM pragma_table_info(${name}) ORDER BY cid`)
    const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
    return { name, columns: columns.map((each) => each.name), key: key.map((each) => each.name) }
  })
}
