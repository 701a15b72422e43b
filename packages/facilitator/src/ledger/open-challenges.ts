/** Open challenges, neither claimed nor expired: their limit, and the callers that hold them. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Shares } from '../payment/issue/shares.js'
import type { Challenge } from '../payment/records.js'
import { createExpiryOrder } from './expiry-order.js'

export type OpenChallenges = {
  size(): number
  /** Whether one more challenge may be opened: by this caller, or by anybody when none is named. */
  hasRoom(key?: string): boolean
  /** Without a caller the challenge counts for nobody's share, as after a start: the journal names no callers. */
  add(challenge: Challenge, key?: string): void
  delete(nonce: ChallengeNonce): void
  /** Takes out every challenge that expires at this second or before. */
  takeUntil(second: number): readonly Challenge[]
}

export function createOpenChallenges({ max, shares }: { max: number; shares: Shares }): OpenChallenges {
  const inOrder = createExpiryOrder()
  const callers = new Map<ChallengeNonce, string>()

  function letGo(nonce: ChallengeNonce): void {
    const key = callers.get(nonce)
    if (key === undefined) return
    callers.delete(nonce)
    shares.giveBack(key)
  }

  return {
    size: inOrder.size,
    hasRoom(key) {
      const free = max - inOrder.size()
      return key === undefined ? free > 0 : shares.rank(key, free) !== undefined
    },
    add(challenge, key) {
      inOrder.add(challenge)
      if (key === undefined) return
      callers.set(challenge.nonce, key)
      shares.take(key)
    },
    delete(nonce) {
      inOrder.delete(nonce)
      letGo(nonce)
    },
    takeUntil(second) {
      const taken = inOrder.takeUntil(second)
      for (const { nonce } of taken) letGo(nonce)
      return taken
    },
  }
}
