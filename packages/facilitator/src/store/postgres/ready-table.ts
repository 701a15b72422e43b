/** The table of ready addresses as a miner uses it, whose role may do nothing else: it inserts, and counts. */
import type { ReadyAddress } from '../../payment/ports.js'
import { key, sql } from '../sql.js'
import { encode } from '../stored.js'
import { connect, type Database } from './client.js'
import { commit, inTransaction } from './transaction.js'

export type ReadyTable = {
  add(addresses: readonly ReadyAddress[]): Promise<void>
  count(): Promise<number>
  close(): Promise<void>
}

export function openReadyTable(database: Database): ReadyTable {
  const client = connect(database)
  return {
    add: (addresses) =>
      inTransaction(client, [], async (send) => {
        const inserted = addresses.map((address) =>
          send(sql`
            INSERT INTO ready (nonce, record) VALUES (${key(address.challengeNonce)}, ${encode(address)})
            ON CONFLICT DO NOTHING`),
        )
        await Promise.all([...inserted, send(commit)])
      }),
    async count() {
      const [row] = await client.read((send) => send(sql`SELECT count(id) AS count FROM ready`))
      return row?.count
    },
    close: client.close,
  }
}
