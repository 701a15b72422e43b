/** Steps of the mint schedule. Times are unix milliseconds, 0 for at once. No event speaks of them. */
import { backOffMs, type ChallengeNonce } from '@svc-zerc20/protocol'
import { type Epoch, epochKey } from '../../payment/epochs/epoch.js'
import type { Draws, MintSchedule, MintTurn } from '../../payment/finalize/ports.js'
import { awaitingIn } from '../rows/leaf-rows.js'
import { epochColumn } from '../rows/payment-rows.js'
import { first, hexOf, key, type Row, type Step, sql } from '../sql.js'
import type { StepContext } from './step-context.js'

/** The key of a payment, or of an epoch, which is longer than any nonce. */
export const turnKey = (of: MintTurn): Uint8Array =>
  typeof of === 'string' ? key(of) : Buffer.from(epochKey(of))

/** Payments with their own proof, each with its turn if it has one. */
const single = sql`
  leaf JOIN payment ON payment.id = leaf.payment LEFT JOIN mint_schedule ON turn = leaf.nonce
  WHERE awaits_mint = 1 AND epoch IS NULL`

/** Gives payments without a turn these delays, and says which payments are due and which are delayed. */
function* planMints(
  context: StepContext,
  nowMs: number,
  delaysMs: readonly number[],
  countMax: number,
): Step<Awaited<ReturnType<MintSchedule['plan']>>> {
  const fresh = yield sql`
    SELECT leaf.nonce AS nonce FROM ${single} AND due_at_ms IS NULL
    ORDER BY burned_at, leaf.payment, place LIMIT ${delaysMs.length}`
  for (const [i, { nonce }] of fresh.entries()) {
    const dueAtMs = Math.ceil(nowMs + (delaysMs[i] ?? 0))
    yield* setMintDue(context, hexOf(nonce) as ChallengeNonce, dueAtMs)
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

/** Payments of an epoch that an operator asked for: no other turn is at 0. */
export function* askedOf(epoch: Epoch): Step<ReadonlySet<ChallengeNonce>> {
  const rows = yield sql`
    SELECT turn FROM mint_schedule WHERE due_at_ms = 0 AND EXISTS
      (SELECT 1 FROM payment WHERE nonce = turn AND epoch = ${epochColumn(epoch)} AND treasury = ${key(epoch.treasury)})`
  return new Set(rows.map(({ turn }) => hexOf(turn) as ChallengeNonce))
}

function* drawTurn(_: StepContext, of: MintTurn, draws: Draws): Step<void> {
  yield sql`
    INSERT INTO mint_schedule (turn, rest_until_ms, failures, draws) VALUES (${turnKey(of)}, 0, 0, ${JSON.stringify(draws)})
    ON CONFLICT (turn) DO UPDATE SET draws = excluded.draws`
}

function* setMintDue(_: StepContext, of: MintTurn, dueAtMs: number | null): Step<void> {
  yield sql`
    INSERT INTO mint_schedule (turn, due_at_ms, rest_until_ms, failures) VALUES (${turnKey(of)}, ${dueAtMs}, 0, 0)
    ON CONFLICT (turn) DO UPDATE SET due_at_ms = excluded.due_at_ms`
}

function* mintFailed(
  _: StepContext,
  of: MintTurn,
  nowMs: number,
  retryMs: { readonly first: number; readonly max: number },
): Step<void> {
  const row = yield* first(sql`SELECT failures FROM mint_schedule WHERE turn = ${turnKey(of)}`)
  const failures = (row?.failures ?? 0) + 1
  const restUntilMs = Math.ceil(nowMs + backOffMs(failures, retryMs.first, retryMs.max))
  yield sql`
    INSERT INTO mint_schedule (turn, rest_until_ms, failures) VALUES (${turnKey(of)}, ${restUntilMs}, ${failures})
    ON CONFLICT (turn) DO UPDATE SET rest_until_ms = excluded.rest_until_ms, failures = excluded.failures`
}

function* mintSucceeded(_: StepContext, nonce: ChallengeNonce): Step<void> {
  yield sql`UPDATE mint_schedule SET rest_until_ms = 0, failures = 0 WHERE turn = ${key(nonce)}`
}

function* mintNow(_: StepContext, nonce: ChallengeNonce): Step<void> {
  yield sql`
    INSERT INTO mint_schedule (turn, due_at_ms, rest_until_ms, failures) VALUES (${key(nonce)}, 0, 0, 0)
    ON CONFLICT (turn) DO UPDATE SET due_at_ms = 0, rest_until_ms = 0, failures = 0`
}

function* forgetMint(_: StepContext, of: MintTurn): Step<void> {
  yield sql`DELETE FROM mint_schedule WHERE turn = ${turnKey(of)}`
}

export const scheduleSteps = {
  planMints,
  drawTurn,
  setMintDue,
  mintFailed,
  mintSucceeded,
  mintNow,
  forgetMint,
}
