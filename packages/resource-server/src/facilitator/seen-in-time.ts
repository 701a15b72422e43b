/**
 * Self-transfers that came in time. Their payers have burned already, so an outage must not cost them their money: the
 * facilitator is told when each was first seen. When it hears of one after the offer expired, it judges by the time of
 * its block.
 */
import { type Clock, Json, unixSeconds } from '@svc-zerc20/protocol'
import { seenOffersMax } from '../limits.js'
import type { PresentedRequirements } from './disclosure.js'

export type SeenInTime = {
  /** Notes a payment with a valid seal when it arrives, before anything else can fail. */
  note(payload: unknown, offer: PresentedRequirements): void
  /** The requirements to send with a payment: with `extra.presentedAt` when the payment came in time. */
  tell(requirements: PresentedRequirements): PresentedRequirements
}

export function createSeenInTime(clock: Clock): SeenInTime {
  // By challenge nonce, oldest first. Only sealed offers come this far, so nobody can make them up.
  const seen = new Map<unknown, number>()
  return {
    note(payload, { extra }) {
      if (!Json.isObject(payload) || payload.burnTxHash === undefined) return
      const now = unixSeconds(clock)
      if (now >= Number(extra.expiresAt) || seen.has(extra.challengeNonce)) return
      seen.set(extra.challengeNonce, now)
      for (const [oldest] of seen) {
        if (seen.size <= seenOffersMax) break
        seen.delete(oldest)
      }
    },
    tell(requirements) {
      const { extra } = requirements
      const presentedAt = seen.get(extra.challengeNonce)
      return presentedAt === undefined ? requirements : { ...requirements, extra: { ...extra, presentedAt } }
    },
  }
}
