/** What a start would find in a database, asked without changing anything. */
import { schemaVersion } from '../schema.js'
import { sql } from '../sql.js'
import { connect, type Database } from './client.js'
import { otherSchema } from './prepare-schema.js'

export type Peek = {
  /** Events of the ledger; absent when there is none. */
  readonly events?: number
  /** The daemon that writes it. */
  readonly holder?: string
}

/** Throws `SvcError('journal_newer')` for a schema of another version, and what the server says when it refuses. */
export async function peekPostgres(database: Database): Promise<Peek> {
  const client = connect(database)
  try {
    return await client.read(async (send) => {
      const [found] = await send(sql`SELECT to_regclass('ledger') IS NOT NULL AS is_there`)
      if (!found?.is_there) return {}
      const [ledger] = await send(sql`
        SELECT schema_version, applied, holder FROM ledger LEFT JOIN lease
          ON lease.name = 'ledger' AND lease.until_ms > extract(epoch FROM clock_timestamp()) * 1000`)
      if (ledger?.schema_version !== schemaVersion) throw otherSchema(ledger?.schema_version)
      return { events: ledger.applied, ...(ledger.holder !== null && { holder: ledger.holder }) }
    })
  } finally {
    await client.close()
  }
}
