/**
 * Signed transactions that carry burns: of burns under way, and of accepted ones that a reorg could still take back.
 * After a crash, or after a reorg, the same bytes are sent again.
 */
import type { ChallengeNonce, TxHash } from '@svc-zerc20/protocol'
import type { SignedTransaction } from '../../payment/records.js'
import { createLedgerTransactions, type Outstanding } from './transactions.js'

/** How long the signed bytes of an accepted burn are kept, so that a reorg can be answered with them. */
export type KeepSigned = {
  /** Until a burn this many blocks higher is accepted. */
  readonly blocks: number
  /** Of at most this many payments, the newest. */
  readonly paymentsMax: number
}

export type SignedBurns = {
  add(transaction: SignedTransaction, nonces: readonly ChallengeNonce[]): void
  /** The burn of this payment is not under way any more. */
  end(nonce: ChallengeNonce): void
  /** Keeps the signed forms of the transaction that holds an accepted burn; false when it is somebody else's. */
  keepAccepted(nonce: ChallengeNonce, txHash: TxHash): boolean
  /**
   * Lets go of accepted burns that are deep, seen from the burn just accepted: one absurd height lets go of much once,
   * and hides nothing later.
   */
  letGoDeep(newest: bigint, heightOf: (nonce: ChallengeNonce) => bigint): Iterable<ChallengeNonce>
  /** A reorg took the burn: it is under way again, and another run would send the same bytes. */
  takeBack(nonce: ChallengeNonce): void
  isShallow(nonce: ChallengeNonce): boolean
  /** Transactions that hold accepted burns which a reorg could still take back. */
  shallow(): Outstanding[]
  /** Transactions that carry burns which have not ended. */
  outstanding(): Outstanding[]
}

export function createSignedBurns(keep: KeepSigned): SignedBurns {
  const underWay = createLedgerTransactions()
  /** Of accepted burns that are not deep yet, and their payments, oldest first. */
  const kept = createLedgerTransactions()
  const shallow = new Set<ChallengeNonce>()

  return {
    add: underWay.add,
    end: underWay.end,
    keepAccepted(nonce, txHash) {
      if (keep.blocks === 0) return false
      const all = underWay.of(nonce)
      const holder = all.find(({ hash }) => hash === txHash)
      if (!holder) return false
      for (const transaction of all) if (transaction.nonce === holder.nonce) kept.add(transaction, [nonce])
      shallow.add(nonce)
      return true
    },
    *letGoDeep(newest, heightOf) {
      for (const nonce of shallow) {
        const isDeep = heightOf(nonce) + BigInt(keep.blocks) <= newest
        if (!isDeep && shallow.size <= keep.paymentsMax) return
        shallow.delete(nonce)
        kept.end(nonce)
        yield nonce
      }
    },
    takeBack(nonce) {
      if (!shallow.delete(nonce)) return
      for (const transaction of kept.of(nonce)) underWay.add(transaction, [nonce])
      kept.end(nonce)
    },
    isShallow: (nonce) => shallow.has(nonce),
    shallow: kept.all,
    outstanding: underWay.all,
  }
}
