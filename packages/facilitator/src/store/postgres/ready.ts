/** Ready addresses in one table, into which every daemon mines. An address leaves it when its challenge is issued. */
import type { SharedAddresses } from '../../addresses/shared-stock.js'
import type { ReadyAddress } from '../../payment/ports.js'
import { hexOf, key, list, sql } from '../sql.js'
import { decode, encode } from '../stored.js'
import type { Send } from './client.js'

export const createSharedReady = (send: Send): SharedAddresses => ({
  async add(address) {
    await send(sql`
      INSERT INTO ready (nonce, record) VALUES (${key(address.challengeNonce)}, ${encode(address)}) ON CONFLICT DO NOTHING`)
  },
  async drop(nonces) {
    await send(sql`DELETE FROM ready WHERE nonce IN ${list(nonces.map(key))}`)
  },
  nonces: async () => (await send(sql`SELECT nonce FROM ready ORDER BY id`)).map(({ nonce }) => hexOf(nonce)),
  async read(nonces) {
    const rows = await send(sql`SELECT record FROM ready WHERE nonce IN ${list(nonces.map(key))} ORDER BY id`)
    return rows.map(({ record }) => decode<ReadyAddress>(record))
  },
})
