/**
 * Why payments that are not minted yet wait, and since when. The operator needs this: the provider is not
 * paid meanwhile.
 */
import type { ChallengeNonce, Clock } from '@svc-zerc20/protocol'

export const waitReasons = {
  delayed: 'held back for a random time, finalize.delay_max_ms',
  queued: 'its turn comes in one of the next rounds, or after the proof that is being made',
  proving: 'its proof is being made, here or by the decider',
  gathering:
    'payments of other accounts are to be minted with it, finalize.batch_least and finalize.batch_wait_max_ms',
  records_missing:
    'the chain counted more burns of its epoch than the records here know; svc-facilitator recover looks for them',
  foreign_mint:
    'another facilitator mints for the same ledger id, and the smaller of both sums is lost: stop one of the two, ' +
    'and see docs/concepts/finalization.md',
  root_behind: 'no proved root covers its burn yet',
  verifier_paused: 'the verifier is paused',
  burn_lost: 'no block holds its burn any more',
  confirming: 'its mint is sent, or not deep enough yet',
  unfunded: 'the account that sends mints cannot pay for one',
  would_revert: 'the chain would refuse its mint',
  reverted: 'its mint was mined and did nothing',
  displaced: "somebody else used the nonce of its mint's transaction",
  mint_not_found: 'it is minted, and the node does not show by which transaction',
  unavailable: 'node, disk, indexer or prover failed',
  elsewhere: 'this daemon has just lost its lease, and only the active one knows why',
  off: 'this daemon mints nothing',
} as const

export type WaitReason = keyof typeof waitReasons

export type Wait = {
  readonly reason: WaitReason
  readonly sinceMs: number
  /** The epoch for which the payment gathers, and since when it waits there, in unix seconds. */
  readonly gathers?: { readonly epoch: number; readonly at: number } | undefined
}

export type Waits = ReturnType<typeof createWaits>

export function createWaits({ clock }: { clock: Pick<Clock, 'now'> }) {
  const waits = new Map<ChallengeNonce, Wait>()
  /** The start of the wait stays the same while the reason stays the same. */
  const set = (nonce: ChallengeNonce, reason: WaitReason, gathers?: Wait['gathers']) => {
    if (waits.get(nonce)?.reason !== reason) waits.set(nonce, { reason, sinceMs: clock.now(), gathers })
  }
  return {
    set,
    /** Sets this reason for exactly these payments. Others that had it get `instead`. */
    replace(reason: WaitReason, nonces: readonly ChallengeNonce[], instead: WaitReason): void {
      const those = new Set(nonces)
      for (const [nonce, wait] of waits) if (wait.reason === reason && !those.has(nonce)) set(nonce, instead)
      for (const nonce of nonces) set(nonce, reason)
    },
    /** Forgets all other payments: a reorg took their burns, or they were minted while a step of them ended. */
    keep(nonces: ReadonlySet<ChallengeNonce>): void {
      for (const nonce of waits.keys()) if (!nonces.has(nonce)) waits.delete(nonce)
    },
    forget: (nonce: ChallengeNonce) => void waits.delete(nonce),
    of: (nonce: ChallengeNonce) => waits.get(nonce),
    all: (): Iterable<Wait> => waits.values(),
    /** The number of payments that wait for this reason, and the start of the longest wait. */
    summary(reason: WaitReason) {
      const those = [...waits.values()].filter((wait) => wait.reason === reason)
      return {
        count: those.length,
        sinceMs: those.reduce((first, { sinceMs }) => Math.min(first, sinceMs), clock.now()),
      }
    },
  }
}
