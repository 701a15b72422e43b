/** What a start would find in a database, asked without changing anything. */
import { lackedBy, type Migration } from '../migrate.js'
import { sql } from '../sql.js'
import { connect, type Database } from './client.js'
import { versionIn } from './prepare-schema.js'

export type Peek = {
  /** Events of the ledger; absent when there is none. */
  readonly events?: number
  /** The daemon that writes it. */
  readonly holder?: string
  /** What a start would change in the tables. */
  readonly migrations?: readonly Migration[]
}

/** Throws `SvcError('journal_newer')` for a schema that is newer than ours, and what the server says when it refuses. */
export async function peekPostgres(database: Database): Promise<Peek> {
  const client = connect(database)
  try {
    return await client.read(async (send) => {
      const version = await versionIn(send)
      if (version === undefined) return {}
      const lacked = lackedBy(version, client.migrations)
      const [ledger] = await send(sql`
        SELECT applied, holder FROM ledger LEFT JOIN lease
          ON lease.name = 'ledger' AND lease.until_ms > extract(epoch FROM clock_timestamp()) * 1000`)
      return {
        events: ledger?.applied,
        ...(ledger?.holder && { holder: ledger.holder }),
        ...(lacked.length > 0 && { migrations: lacked }),
      }
    })
  } finally {
    await client.close()
  }
}
