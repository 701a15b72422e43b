/** Steps of the mint schedule. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { key, type Step, sql } from '../sql.js'
import type { StepContext } from './step-context.js'

/** When the mint of a payment may be tried. Times are unix milliseconds, 0 for at once. */
export type PlannedTurn = {
  /** The end of its random delay. */
  readonly dueAtMs: number
  /** The end of its rest after a failure. */
  readonly restUntilMs: number
  /** Failures in a row. */
  readonly failures: number
}

/** The first delay that is drawn for a payment stays. */
function* drawDelays(
  _: StepContext,
  drawn: readonly { readonly nonce: ChallengeNonce; readonly dueAtMs: number }[],
): Step<void> {
  for (const { nonce, dueAtMs } of drawn) {
    yield sql`
      INSERT INTO mint_turn (nonce, due_at_ms, rest_until_ms, failures) VALUES (${key(nonce)}, ${Math.ceil(dueAtMs)}, 0, 0)
      ON CONFLICT DO NOTHING`
  }
}

function* planTurn(_: StepContext, nonce: ChallengeNonce, turn: PlannedTurn): Step<void> {
  yield sql`
    INSERT INTO mint_turn (nonce, due_at_ms, rest_until_ms, failures)
    VALUES (${key(nonce)}, ${Math.ceil(turn.dueAtMs)}, ${Math.ceil(turn.restUntilMs)}, ${turn.failures})
    ON CONFLICT (nonce) DO UPDATE SET due_at_ms = excluded.due_at_ms, rest_until_ms = excluded.rest_until_ms,
      failures = excluded.failures`
}

function* forgetTurn(_: StepContext, nonce: ChallengeNonce): Step<void> {
  yield sql`DELETE FROM mint_turn WHERE nonce = ${key(nonce)}`
}

export const scheduleSteps = { drawDelays, planTurn, forgetTurn }
