/** Challenges in the order in which they expire. A changed TTL makes this another order than that of issuing. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Challenge } from '../payment/records.js'

export type ExpiryOrder = {
  size(): number
  add(challenge: Challenge): void
  delete(nonce: ChallengeNonce): void
  /** Takes out every challenge that expires at this second or before, earliest first. */
  takeUntil(second: number): readonly Challenge[]
}

export function createExpiryOrder(): ExpiryOrder {
  const expiries = new Map<ChallengeNonce, number>()
  const bySecond = new Map<number, Map<ChallengeNonce, Challenge>>()
  /** The keys of `bySecond`, ascending. A second whose challenges are all gone stays until it passes. */
  const seconds: number[] = []

  function challengesAt(second: number): Map<ChallengeNonce, Challenge> {
    const known = bySecond.get(second)
    if (known) return known
    // Under one TTL the newest expires last, so the search ends at once.
    const place = seconds.findLastIndex((earlier) => earlier < second) + 1
    seconds.splice(place, 0, second)
    const fresh = new Map<ChallengeNonce, Challenge>()
    bySecond.set(second, fresh)
    return fresh
  }

  return {
    size: () => expiries.size,
    add(challenge) {
      expiries.set(challenge.nonce, challenge.expiresAt)
      challengesAt(challenge.expiresAt).set(challenge.nonce, challenge)
    },
    delete(nonce) {
      const second = expiries.get(nonce)
      if (second === undefined) return
      expiries.delete(nonce)
      bySecond.get(second)?.delete(nonce)
    },
    takeUntil(second) {
      const passed = seconds.findIndex((later) => later > second)
      const taken = seconds.splice(0, passed < 0 ? seconds.length : passed).flatMap((at) => {
        const challenges = [...(bySecond.get(at)?.values() ?? [])]
        bySecond.delete(at)
        return challenges
      })
      for (const { nonce } of taken) expiries.delete(nonce)
      return taken
    },
  }
}
