/**
 * Ready addresses of all daemons. Each takes some at a time and holds them, by the server's clock, so that no two hand out the
 * same one. Others take the addresses of a dead daemon. An address leaves the table when its challenge is issued.
 */
import type { SharedAddresses } from '../../addresses/shared-stock.js'
import type { ReadyAddress } from '../../payment/ports.js'
import { hexOf, key, list, type Row, serverNow, sql } from '../sql.js'
import { decode, encode } from '../stored.js'
import type { Send } from './client.js'

/** How long a daemon holds addresses that it does not ask for again. */
const heldMs = 60_000

const countingFree = sql`SELECT count(*) AS free FROM ready WHERE held_until_ms < ${serverNow}`

/** Undefined when somebody else wrote no address, or that of another nonce. Its terms are looked at later. */
function addressIn({ nonce, record }: Row): ReadyAddress | undefined {
  try {
    const address = decode<ReadyAddress>(record)
    return address.challengeNonce === hexOf(nonce) ? address : undefined
  } catch {
    return undefined
  }
}

export function createSharedReady({
  send,
  holder,
}: {
  readonly send: Send
  readonly holder: string
}): SharedAddresses {
  const end = sql`${serverNow} + ${heldMs}`
  return {
    heldMs,
    async add(address, isHeld) {
      const [row] = await send(sql`
        WITH added AS (
          INSERT INTO ready (nonce, record, holder, held_until_ms)
          VALUES (${key(address.challengeNonce)}, ${encode(address)}, ${holder}, ${isHeld ? end : sql`0`})
          ON CONFLICT DO NOTHING
        ) ${countingFree}`)
      return row?.free
    },
    async drop(nonces) {
      await Promise.all(nonces.map((nonce) => send(sql`DELETE FROM ready WHERE nonce = ${key(nonce)}`)))
    },
    async take(count) {
      const rows = await send(sql`
        UPDATE ready SET holder = ${holder}, held_until_ms = ${end} WHERE id IN (
          SELECT id FROM ready WHERE held_until_ms < ${serverNow} ORDER BY id LIMIT ${count} FOR UPDATE SKIP LOCKED
        ) RETURNING nonce, record`)
      const wrong = rows.filter((row) => addressIn(row) === undefined)
      for (const { nonce } of wrong) await send(sql`DELETE FROM ready WHERE nonce = ${nonce}`)
      return rows.flatMap((row) => addressIn(row) ?? [])
    },
    async renew(nonces) {
      const isAsked = sql`nonce IN ${list(nonces.map(key))}`
      const rows = await send(sql`
        UPDATE ready SET held_until_ms = ${end}
        WHERE ${isAsked} AND holder = ${holder} AND held_until_ms >= ${serverNow} RETURNING nonce`)
      return new Set(rows.map(({ nonce }) => hexOf(nonce)))
    },
    async free() {
      const [row] = await send(countingFree)
      return row?.free
    },
    async release() {
      await send(sql`UPDATE ready SET held_until_ms = 0 WHERE holder = ${holder} AND held_until_ms > 0`)
    },
  }
}
