/** Money at issued addresses that single proofs do not bring, for the operator. */
import type { Clock } from '@svc-zerc20/protocol'
import { limits } from '../../config/limits.js'
import { type StuckAddress, stuckAt } from '../../payment/found/judge-transfers.js'
import type { Payment } from '../../payment/records.js'
import type { IssuedStore } from './issued-store.js'

/** Addresses with money that a single proof does not bring; the newest first, at most `countMax`. */
export type StuckTransfers = (countMax: number) => Promise<readonly StuckAddress[]>

export function createStuckTransfers(deps: {
  readonly store: Pick<IssuedStore, 'kept'>
  readonly clock: Pick<Clock, 'now'>
}): StuckTransfers {
  /** The money may still buy something. */
  function isUndecided({ challenge, claim, accepted, late }: Payment): boolean {
    const until = Math.max(challenge.expiresAt, claim ? (challenge.deadline ?? 0) : 0)
    return !accepted && !late && deps.clock.now() / 1000 < until
  }

  return async (countMax) => {
    const all: StuckAddress[] = []
    for await (const { payment, transfers } of deps.store.kept()) {
      const stuck = stuckAt(payment, transfers)
      const { nonce: challengeNonce, payTo } = payment.challenge
      if (stuck > 0n && !isUndecided(payment)) all.push({ challengeNonce, payTo, transfers, stuck })
    }
    const newest = ({ transfers }: StuckAddress) => transfers.at(-1)?.leafIndex ?? 0n
    return all.toSorted((a, b) => Number(newest(b) - newest(a))).slice(0, countMax)
  }
}

export type StuckCount = ReturnType<typeof createStuckCount>

export function createStuckCount(stuck: StuckTransfers, clock: Pick<Clock, 'now'>) {
  let count = 0
  let countedAtMs = Number.NEGATIVE_INFINITY
  return {
    /** Counts again unless there is a recent count: counting reads every transfer that is kept. */
    async refresh(): Promise<void> {
      if (clock.now() - countedAtMs < limits.stuckCountedEveryMs) return
      count = (await stuck(Number.POSITIVE_INFINITY)).length
      countedAtMs = clock.now()
    },
    last: () => count,
  }
}
