/**
 * Payers whose relayed burns failed on chain. Each failure cost the relayer gas, and only its payer can make a burn fail
 * that was good when it was sent. The payer's next burn therefore waits, twice as long each time. No event speaks of it: a
 * lost wait costs gas, but no payment.
 */
import { type Address, backOffMs } from '@svc-zerc20/protocol'
import { limits } from '../../config/limits.js'
import { first, key, type Query, type Step, sql } from '../sql.js'
import type { StepContext } from './step-context.js'

function* burnFailed({ sharedNow }: StepContext, payer: Address): Step<void> {
  // The table stays as small as the failures of late: each of them cost gas.
  yield sql`DELETE FROM payer_wait WHERE until_ms + ${limits.payerWaitForgetMs} <= ${sharedNow}`
  const row = yield* first(sql`SELECT failures FROM payer_wait WHERE payer = ${key(payer)}`)
  const failures = (row?.failures ?? 0) + 1
  const waitMs = backOffMs(failures, limits.payerWaitFirstMs, limits.payerWaitMaxMs)
  yield sql`
    INSERT INTO payer_wait (payer, failures, until_ms) VALUES (${key(payer)}, ${failures}, ${sharedNow} + ${waitMs})
    ON CONFLICT (payer) DO UPDATE SET failures = excluded.failures, until_ms = excluded.until_ms`
}

export const payerSteps = { burnFailed }

/** How long this payer still has to wait, as a value of a query. Negative, or null, when it may go on. */
export const waitOf = (payer: Address, nowMs: Query): Query =>
  sql`(SELECT until_ms - ${nowMs} FROM payer_wait WHERE payer = ${key(payer)})`
