/** Waits of payers whose relayed burns failed, by the server's clock. A database that is away loses waits, and no payment. */
import { backOffMs } from '@svc-zerc20/protocol'
import type { PayerWaits } from '../../payment/settle/payer-waits.js'
import { key, type Query, serverNow, sql } from '../sql.js'
import type { Send } from './client.js'

/** Failures in a row that are told apart: the longest wait is reached before. */
const failuresMax = 32

export function createSharedPayerWaits({
  send,
  firstMs,
  maxMs,
  forgetMs,
  now = () => serverNow,
}: {
  readonly send: Send
  readonly firstMs: number
  readonly maxMs: number
  /** After this time without another failure, counted from the end of its wait, a payer begins again. */
  readonly forgetMs: number
  readonly now?: () => Query
}): PayerWaits {
  const waits = Array.from({ length: failuresMax }, (_, i) => backOffMs(i + 1, firstMs, maxMs))
  /** The wait after so many failures. */
  const waitOf = (failures: Query) =>
    sql`(string_to_array(${waits.join(' ')}, ' '))[LEAST(${failures}, ${failuresMax})]`

  return {
    async failed(payer) {
      const at = now()
      const failures = sql`(CASE WHEN ${at} < payer_wait.until_ms + ${forgetMs} THEN payer_wait.failures + 1 ELSE 1 END)`
      await Promise.all([
        send(sql`
          INSERT INTO payer_wait (payer, failures, until_ms) VALUES (${key(payer)}, 1, ${at} + ${firstMs})
          ON CONFLICT (payer) DO UPDATE SET
            failures = ${failures}, until_ms = ${at} + CAST(${waitOf(failures)} AS BIGINT)`),
        send(sql`DELETE FROM payer_wait WHERE until_ms + ${forgetMs} < ${at}`),
      ]).catch(() => undefined)
    },
    async waitMs(payer) {
      const [row] = await send(
        sql`SELECT until_ms - ${now()} AS wait_ms FROM payer_wait WHERE payer = ${key(payer)}`,
      ).catch(() => [])
      return Math.max(0, row?.wait_ms ?? 0)
    },
  }
}
