/** The tables of a PostgreSQL database: made where they are missing, by one daemon at a time. */
import { SvcError } from '@svc-zerc20/protocol'
import { systemRandom } from '../../system.js'
import { postgresSchema, schemaVersion } from '../schema.js'
import { sql } from '../sql.js'
import { unitsColumn } from '../units.js'
import type { Client, Send } from './client.js'
import { commit, inTransaction } from './transaction.js'

const idBytes = 16
/** Any number that other programs of this database do not take. */
const schemaLock = 0x5c20_7302

/** Throws `SvcError('journal_newer')` for a schema of another version. */
export const prepareSchema = (client: Client): Promise<void> =>
  inTransaction(client, [sql`SELECT pg_advisory_xact_lock(${schemaLock})`], async (send) => {
    const [found] = await send(sql`SELECT to_regclass('ledger') IS NOT NULL AS is_there`)
    if (!found?.is_there) await create(send)
    const [ledger] = await send(sql`SELECT schema_version FROM ledger`)
    if (ledger?.schema_version !== schemaVersion) throw otherSchema(ledger?.schema_version)
    await send(commit)
  })

export const otherSchema = (version: unknown): SvcError =>
  new SvcError('journal_newer', `storage.url: the database has the schema ${version}, not ${schemaVersion}`)

async function create(send: Send): Promise<void> {
  const statements = postgresSchema.split(';\n').filter((text) => text.trim() !== '')
  await Promise.all(statements.map((text) => send({ text, values: [] })))
  const id = Buffer.from(systemRandom.bytes(idBytes)).toString('hex')
  await send(sql`
    INSERT INTO ledger (one, id, schema_version, applied, applied_crc, fees, state, record)
    VALUES (1, ${id}, ${schemaVersion}, 0, '', ${unitsColumn(0n)}, 'live', '{}')`)
}
