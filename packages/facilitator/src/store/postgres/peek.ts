/** What a start would find in a database, asked without changing anything. */
import { limits } from '../../config/limits.js'
import { lackedBy, type Migration } from '../migrate.js'
import { serverNow, sql } from '../sql.js'
import { connect, type Database, type Send } from './client.js'
import { versionIn } from './prepare-schema.js'

export type Peek = {
  /** Events of the ledger; absent when there is none. */
  readonly events?: number
  /** The daemons that use it. */
  readonly daemons: readonly string[]
  /** What a start would change in the tables. */
  readonly migrations?: readonly Migration[]
}

/** Throws `SvcError('ledger_newer')` for a schema that is newer than ours, and what the server says when it refuses. */
export async function peekPostgres(database: Database): Promise<Peek> {
  const client = connect(database)
  try {
    return await client.read(async (send) => {
      const version = await versionIn(send)
      if (version === undefined) return { daemons: [] }
      const lacked = lackedBy(version, client.migrations)
      const [ledger] = await send(sql`SELECT applied FROM ledger`)
      return {
        events: ledger?.applied,
        daemons: await daemonsIn(send),
        ...(lacked.length > 0 && { migrations: lacked }),
      }
    })
  } finally {
    await client.close()
  }
}

/** The daemons that use the ledger. */
export const daemonsIn = async (send: Send): Promise<readonly string[]> => {
  const daemons = await send(sql`
    SELECT holder FROM daemon WHERE alive_ms > ${serverNow} - ${limits.leaseMs}
    ORDER BY holder`)
  return daemons.map(({ holder }) => holder)
}
