/** Steps of the mint schedule. Times are unix milliseconds, 0 for at once. No event speaks of them. */
import { backOffMs, type ChallengeNonce } from '@svc-zerc20/protocol'
import type { MintSchedule } from '../../payment/finalize/ports.js'
import { awaitingIn } from '../rows/leaf-rows.js'
import { first, hexOf, key, type Row, type Step, sql } from '../sql.js'
import type { StepContext } from './step-context.js'

/** Payments with their own proof, each with its turn if it has one. */
const single = sql`
  leaf JOIN payment ON payment.id = leaf.payment LEFT JOIN mint_schedule ON mint_schedule.nonce = leaf.nonce
  WHERE awaits_mint = 1 AND epoch IS NULL`

/** Gives payments without a turn these delays, and says which payments are due and which are delayed. */
function* planMints(
  _: StepContext,
  nowMs: number,
  delaysMs: readonly number[],
  countMax: number,
): Step<Awaited<ReturnType<MintSchedule['plan']>>> {
  const fresh = yield sql`
    SELECT leaf.nonce AS nonce FROM ${single} AND mint_schedule.nonce IS NULL
    ORDER BY burned_at, leaf.payment, place LIMIT ${delaysMs.length}`
  for (const [i, { nonce }] of fresh.entries()) {
    const dueAtMs = Math.ceil(nowMs + (delaysMs[i] ?? 0))
    yield sql`INSERT INTO mint_schedule (nonce, due_at_ms, rest_until_ms, failures) VALUES (${key(hexOf(nonce))}, ${dueAtMs}, 0, 0)`
  }
  const due = yield sql`
    SELECT leaf.record AS record FROM ${single} AND due_at_ms <= ${nowMs} AND rest_until_ms <= ${nowMs}
    ORDER BY burned_at, leaf.payment, place LIMIT ${countMax}`
  const all = yield sql`SELECT leaf.nonce AS nonce, due_at_ms > ${nowMs} AS is_delayed FROM ${single}`
  const noncesOf = (rows: readonly Row[]) => rows.map(({ nonce }) => hexOf(nonce) as ChallengeNonce)
  return {
    due: due.map(awaitingIn),
    delayed: noncesOf(all.filter((row) => row.is_delayed)),
    single: noncesOf(all),
  }
}

function* mintFailed(
  _: StepContext,
  nonce: ChallengeNonce,
  nowMs: number,
  retryMs: { readonly first: number; readonly max: number },
): Step<void> {
  const row = yield* first(sql`SELECT failures FROM mint_schedule WHERE nonce = ${key(nonce)}`)
  const failures = (row?.failures ?? 0) + 1
  const restUntilMs = Math.ceil(nowMs + backOffMs(failures, retryMs.first, retryMs.max))
  yield sql`
    INSERT INTO mint_schedule (nonce, due_at_ms, rest_until_ms, failures) VALUES (${key(nonce)}, 0, ${restUntilMs}, ${failures})
    ON CONFLICT (nonce) DO UPDATE SET rest_until_ms = excluded.rest_until_ms, failures = excluded.failures`
}

function* mintSucceeded(_: StepContext, nonce: ChallengeNonce): Step<void> {
  yield sql`UPDATE mint_schedule SET rest_until_ms = 0, failures = 0 WHERE nonce = ${key(nonce)}`
}

function* mintNow(_: StepContext, nonce: ChallengeNonce): Step<void> {
  yield sql`
    INSERT INTO mint_schedule (nonce, due_at_ms, rest_until_ms, failures) VALUES (${key(nonce)}, 0, 0, 0)
    ON CONFLICT (nonce) DO UPDATE SET due_at_ms = 0, rest_until_ms = 0, failures = 0`
}

function* forgetMint(_: StepContext, nonce: ChallengeNonce): Step<void> {
  yield sql`DELETE FROM mint_schedule WHERE nonce = ${key(nonce)}`
}

export const scheduleSteps = { planMints, mintFailed, mintSucceeded, mintNow, forgetMint }
