/**
 * Self-transfers that came in time. Their payers have burned already, so an outage of the facilitator must not cost them
 * their money: when one comes again after its offer expired, the facilitator is told when it was first seen, and judges
 * it by the time of its block.
 */
import { type Clock, unixSeconds } from '@svc-zerc20/protocol'
import { seenOffersMax } from '../limits.js'
import type { PresentedPayload, PresentedRequirements } from './disclosure.js'

/** The requirements to send with a payment: with `extra.presentedAt` when the payment was first seen in time. */
export type SeenInTime = (
  payload: PresentedPayload,
  requirements: PresentedRequirements,
) => PresentedRequirements

export function createSeenInTime(clock: Clock): SeenInTime {
  // By challenge nonce, oldest first. Only sealed offers come this far, so nobody can make them up.
  const seen = new Map<unknown, number>()
  return ({ payload }, requirements) => {
    const { extra } = requirements
    const now = unixSeconds(clock)
    const first = seen.get(extra.challengeNonce)
    if (now >= Number(extra.expiresAt)) {
      return first === undefined ? requirements : { ...requirements, extra: { ...extra, presentedAt: first } }
    }
    if (payload.burnTxHash !== undefined && first === undefined) seen.set(extra.challengeNonce, now)
    for (const [oldest] of seen) {
      if (seen.size <= seenOffersMax) break
      seen.delete(oldest)
    }
    return requirements
  }
}
