/**
 * Repeats a settle that failed without a refusal. The same payload is idempotent at the facilitator, so sending it
 * again cannot burn twice. Only the facilitator decides whether this caller gets the payment's one grant.
 */
import type { Clock } from '@svc-zerc20/protocol'
import type { SettleFailureContext } from '@x402/core/server'
import type { SettleResponse } from '@x402/core/types'
import { type Facilitator, refusalOf } from '../facilitator/client.js'
import type { Limits } from '../limits.js'
import { retryOf } from '../refusal.js'
import { visits } from '../visits/visit.js'

export type ResettleDeps = {
  readonly facilitator: Pick<Facilitator, 'answersFor' | 'settleAgain'>
  readonly clock: Clock
  readonly limits: Pick<Limits, 'recoveryBudgetMs' | 'recoveryPausesMs'>
}

/** The result of a scheme's `onSettleFailure` hook. A recovered result may still be a refusal. */
export type Recovery = { recovered: true; result: SettleResponse }

export function createResettle({ facilitator, clock, limits }: ResettleDeps) {
  return async function resettle(failure: SettleFailureContext): Promise<Recovery | undefined> {
    const { paymentPayload, requirements, error } = failure
    const challengeNonce = String(requirements.extra.challengeNonce)
    const visit = visits.getStore()
    const deadline = clock.now() + limits.recoveryBudgetMs
    const remainingMs = () => Math.floor(deadline - clock.now())
    let latest = refusalOf(error)
    let isAnswered = latest !== undefined
    let recovery: Recovery | undefined
    for (const pauseMs of limits.recoveryPausesMs) {
      if ((latest !== undefined && isFinal(latest)) || remainingMs() <= pauseMs) break
      if (visit?.mayResend() === false) break
      await clock.sleep(pauseMs)
      // After an unanswered call, a cheap status request checks first that the facilitator answers at all.
      if (!isAnswered && !(await facilitator.answersFor(challengeNonce))) continue
      if (remainingMs() < 1) break
      const answer = await facilitator.settleAgain(paymentPayload, requirements, remainingMs())
      isAnswered = answer !== undefined
      if (answer === undefined) continue
      latest = answer
      recovery = { recovered: true, result: answer }
    }
    if (latest?.errorReason !== undefined) {
      visit?.noteRefused({ challengeNonce, payload: paymentPayload.payload }, latest.errorReason)
    }
    return recovery
  }
}

/** True when sending the same payload again cannot help. */
export function isFinal({ success, errorReason }: SettleResponse): boolean {
  if (success || errorReason === undefined) return true
  const retry = retryOf(errorReason)
  return retry !== 'same_payload' && retry !== 'later'
}
