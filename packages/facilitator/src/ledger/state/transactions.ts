/** Signed transactions for payments that still need them: after a crash the same bytes are sent again. */
import type { ChallengeNonce, TxHash } from '@svc-zerc20/protocol'
import type { SignedTransaction } from '../../payment/records.js'

export type Outstanding = {
  readonly transaction: SignedTransaction
  /** The payments that still need the transaction. */
  readonly nonces: ReadonlySet<ChallengeNonce>
}

export type LedgerTransactions = {
  /** Adds payments to those that the transaction carries already. */
  add(transaction: SignedTransaction, nonces: readonly ChallengeNonce[]): void
  /** Ends a payment that needs nothing more. A transaction that carries no other payment is forgotten. */
  end(nonce: ChallengeNonce): void
  /** All transactions that carry this payment, oldest first. */
  of(nonce: ChallengeNonce): readonly SignedTransaction[]
  all(): Outstanding[]
}

export function createLedgerTransactions(): LedgerTransactions {
  const byHash = new Map<TxHash, { transaction: SignedTransaction; nonces: Set<ChallengeNonce> }>()
  const hashesOf = new Map<ChallengeNonce, TxHash[]>()
  return {
    add(transaction, nonces) {
      if (nonces.length === 0) return
      const { nonces: known = [] } = byHash.get(transaction.hash) ?? {}
      byHash.set(transaction.hash, { transaction, nonces: new Set([...known, ...nonces]) })
      for (const nonce of nonces) hashesOf.set(nonce, [...(hashesOf.get(nonce) ?? []), transaction.hash])
    },

    end(nonce) {
      for (const hash of hashesOf.get(nonce) ?? []) {
        const carried = byHash.get(hash)?.nonces
        carried?.delete(nonce)
        if (carried?.size === 0) byHash.delete(hash)
      }
      hashesOf.delete(nonce)
    },

    of: (nonce) => (hashesOf.get(nonce) ?? []).flatMap((hash) => byHash.get(hash)?.transaction ?? []),

    all: () => [...byHash.values()],
  }
}
