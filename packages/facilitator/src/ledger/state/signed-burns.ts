/**
 * Signed transactions that carry burns: of burns under way, and of accepted ones that a reorg could still take back.
 * After a crash, or after a reorg, the same bytes are sent again.
 */
import type { ChallengeNonce, TxHash } from '@svc-zerc20/protocol'
import type { SignedTransaction } from '../../payment/records.js'
import { createLedgerTransactions, type Outstanding } from './transactions.js'

/** Limits on keeping the signed bytes of accepted burns, with which a reorg is answered. */
export type KeepSigned = {
  /** The bytes are kept until a burn this many blocks higher is accepted. */
  readonly blocks: number
  /** The bytes of at most this many payments are kept, the newest. */
  readonly paymentsMax: number
}

export type SignedBurns = {
  add(transaction: SignedTransaction, nonces: readonly ChallengeNonce[]): void
  /** The burn of this payment ended. */
  end(nonce: ChallengeNonce): void
  /** Keeps the signed forms of the transaction that holds an accepted burn; false for somebody else's transaction. */
  keepAccepted(nonce: ChallengeNonce, txHash: TxHash): boolean
  /**
   * Lets go of accepted burns that are deep below the burn just accepted. The depth counts from that burn alone, so that
   * one absurd height has no effect later.
   */
  letGoDeep(newest: bigint, heightOf: (nonce: ChallengeNonce) => bigint): Iterable<ChallengeNonce>
  /** A reorg took the burn: it is under way again, and its bytes are sent again. */
  takeBack(nonce: ChallengeNonce): void
  isShallow(nonce: ChallengeNonce): boolean
  /** Transactions that hold accepted burns which a reorg could still take back. */
  shallow(): Outstanding[]
  /** Transactions that carry burns which have not ended. */
  outstanding(): Outstanding[]
}

export function createSignedBurns(keep: KeepSigned): SignedBurns {
  const underWay = createLedgerTransactions()
  /** Transactions of accepted burns that are not deep yet. */
  const kept = createLedgerTransactions()
  /** The payments of these burns, oldest first. */
  const shallow = new Set<ChallengeNonce>()

  return {
    add: underWay.add,
    end: underWay.end,
    keepAccepted(nonce, txHash) {
      if (keep.blocks === 0) return false
      const all = underWay.of(nonce)
      const holder = all.find(({ hash }) => hash === txHash)
      if (!holder) return false
      for (const transaction of all)
        if (transaction.txNonce === holder.txNonce) kept.add(transaction, [nonce])
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
