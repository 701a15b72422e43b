/** Nonces of logins that were used at any daemon. They are durable: their key outlives every daemon. */
import { type Address, SvcError, type UnixSeconds } from '@svc-zerc20/protocol'
import { key, sql } from '../sql.js'
import type { Send } from './client.js'

/** Nonces of login messages that were used. */
export type UsedNonces = {
  /** Of several callers with one nonce, exactly one sees `taken`. `full` when too many of this address are remembered. */
  take(nonce: string, expiresAt: UnixSeconds, address: Address): Promise<'taken' | 'used' | 'full'>
  /** Lets the nonce be used again: nobody got in with it. */
  giveBack(nonce: string): Promise<void>
}

/** A nonce is kept this long behind its end: the clock of another daemon may be late. */
const marginSeconds = 300

export function createSharedUsedNonces({
  send,
  nowSeconds,
  usedMax,
}: {
  readonly send: Send
  readonly nowSeconds: () => UnixSeconds
  readonly usedMax: number
}): UsedNonces {
  return {
    async take(nonce, expiresAt, address) {
      const now = nowSeconds()
      const held = sql`(SELECT count(*) FROM login WHERE address = ${key(address)} AND expires_at > ${now})`
      const [row] = await send(sql`
        WITH forgotten AS (DELETE FROM login WHERE expires_at + ${marginSeconds} < ${now}),
        taken AS (
          INSERT INTO login (nonce, address, expires_at)
            SELECT ${nonce}, ${key(address)}, CAST(${expiresAt} AS BIGINT) WHERE ${held} < ${usedMax}
          ON CONFLICT DO NOTHING RETURNING nonce
        )
        SELECT (SELECT count(*) FROM taken) AS taken, ${held} AS held,
          (SELECT count(*) FROM login WHERE nonce = ${nonce}) AS known`).catch((cause) => {
        throw new SvcError('ledger_failed', 'the database of the logins cannot be used', { cause })
      })
      if (row?.taken === 1) return 'taken'
      // Where there was room, another daemon was faster by a moment.
      return row?.known === 1 || row?.held < usedMax ? 'used' : 'full'
    },
    async giveBack(nonce) {
      await send(sql`DELETE FROM login WHERE nonce = ${nonce}`).catch(() => undefined)
    },
  }
}
