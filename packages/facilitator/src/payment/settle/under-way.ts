/** The burns that run at the moment, one for each challenge at most, and how each ends. */
import type { ChallengeNonce, Rejection, TxHash } from '@svc-zerc20/protocol'
import type { Clock } from '../ports.js'
import type { Challenge } from '../records.js'
import type { Report } from '../report.js'

export type BurnEnd =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'failed'; readonly rejection: Rejection; readonly txHash?: TxHash }

export type UnderWay = {
  track(challenge: Challenge, running: Promise<BurnEnd>): void
  of(challengeNonce: ChallengeNonce): Promise<BurnEnd> | undefined
  /** How the burn under way ends, or `pending` when the bound passes first. Undefined when none is under way. */
  watch(challengeNonce: ChallengeNonce, boundMs: number): Promise<BurnEnd | 'pending'> | undefined
  /** Resolves when no burn is under way. */
  idle(): Promise<void>
}

export function createUnderWay({ clock, report }: { clock: Clock; report: Report }): UnderWay {
  const underWay = new Map<ChallengeNonce, Promise<BurnEnd>>()
  return {
    track(challenge, running) {
      const end = running.finally(() => {
        if (underWay.get(challenge.nonce) === end) underWay.delete(challenge.nonce)
      })
      underWay.set(challenge.nonce, end)
      // The claim stays: the same payload, sent again, resumes the burn where it broke off.
      end.catch((err) => report({ event: 'burn.interrupted', challengeNonce: challenge.nonce, err }))
    },

    of: (challengeNonce) => underWay.get(challengeNonce),

    watch(challengeNonce, boundMs) {
      const end = underWay.get(challengeNonce)
      if (!end) return undefined
      const bound = new AbortController()
      const elapsed = clock.sleep(boundMs, bound.signal).then(() => 'pending' as const)
      return Promise.race([end, elapsed]).finally(() => bound.abort())
    },

    async idle() {
      await Promise.allSettled(underWay.values())
    },
  }
}
