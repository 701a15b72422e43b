/** All payments of a ledger: those that can still change, and those that ended, which are packed in the archive. */
import { type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import type { Challenge, Finalized } from '../../payment/records.js'
import { type ArchiveQuery, type ArchiveSnapshot, createLedgerArchive } from '../archive/archive.js'
import { awaitedBurnOf, isKept, type PaymentRecord, toRecord } from './payment-record.js'

export type Payments = {
  /** Everything that can still change: not accepted, or its grant not used. */
  readonly live: ReadonlyMap<ChallengeNonce, PaymentRecord>
  find(nonce: ChallengeNonce): PaymentRecord | undefined
  /** Looks at no mint, so that the time it takes does not tell whether there is one. */
  findWithoutMint(nonce: ChallengeNonce): Omit<PaymentRecord, 'finalized'> | undefined
  /** Throws `SvcError('payment_lost')` when no payment that can change has this nonce. */
  liveOf(nonce: ChallengeNonce): PaymentRecord
  put(payment: PaymentRecord): void
  /** Brings it back among those that can change, if it ended without its mint. */
  changeable(nonce: ChallengeNonce): PaymentRecord | undefined
  /** Brings it back among those that can change, even if it ended in full. */
  reopened(nonce: ChallengeNonce): PaymentRecord | undefined
  isArchived(nonce: ChallengeNonce): boolean
  archiveIfEnded(payment: PaymentRecord): void
  /** Whether it ended, and its mint is still to come. */
  endedAwaitsMint(nonce: ChallengeNonce): boolean
  /** False when the payment did not end, or its mint does not fit into the archive. */
  finalizeEnded(nonce: ChallengeNonce, finalized: Finalized): boolean
  /** Forgets a challenge, unless something happened to it. */
  forget(nonce: ChallengeNonce): void
  challenges(): Iterable<Challenge>
  endedPage(query: ArchiveQuery, count: number): PaymentRecord[]
  endedCounts(): { readonly accepted: number; readonly finalized: number }
  endedSnapshot(): ArchiveSnapshot
  endedSize(): number
  awaitingMint(): Iterable<PaymentRecord>
}

/** `isHeldBack` keeps a payment out of the archive, though nothing else is missing. */
export function createPayments(isHeldBack: (nonce: ChallengeNonce) => boolean): Payments {
  const live = new Map<ChallengeNonce, PaymentRecord>()
  const archive = createLedgerArchive()

  function takeOut(nonce: ChallengeNonce): void {
    const ended = archive.takeOut(nonce)
    if (ended) live.set(nonce, toRecord(ended))
  }

  return {
    live,
    find(nonce) {
      const payment = live.get(nonce)
      if (payment) return payment
      const ended = archive.find(nonce)
      return ended && toRecord(ended)
    },
    findWithoutMint(nonce) {
      const payment = live.get(nonce)
      if (payment) return payment
      const ended = archive.findWithoutMint(nonce)
      return ended && toRecord(ended)
    },
    liveOf(nonce) {
      const payment = live.get(nonce)
      if (!payment) throw new SvcError('payment_lost', `no payment ${nonce} in the ledger`)
      return payment
    },
    put: (payment) => void live.set(payment.challenge.nonce, payment),
    changeable(nonce) {
      if (archive.isAwaitingMint(nonce)) takeOut(nonce)
      return live.get(nonce)
    },
    reopened(nonce) {
      if (!live.has(nonce)) takeOut(nonce)
      return live.get(nonce)
    },
    isArchived: (nonce) => archive.find(nonce) !== undefined,
    archiveIfEnded(payment) {
      const { challenge, claim, accepted, late, unmatched, finalized, granted } = payment
      if (!granted || !accepted || !claim || late || unmatched || isHeldBack(challenge.nonce)) return
      const ended = { challenge, identity: claim.identity, ...accepted, ...(finalized && { finalized }) }
      if (archive.add(ended)) live.delete(challenge.nonce)
    },
    endedAwaitsMint: (nonce) => archive.isAwaitingMint(nonce),
    finalizeEnded: (nonce, finalized) => archive.isAwaitingMint(nonce) && archive.finalize(nonce, finalized),
    forget(nonce) {
      const payment = live.get(nonce)
      if (payment && !isKept(payment)) live.delete(nonce)
    },
    *challenges() {
      // In this order: a payment that ends, or is reopened, in between is seen at its new place.
      for (const { challenge } of live.values()) yield challenge
      for (const { challenge } of archive.snapshot()) yield challenge
    },
    endedPage: (query, count) => archive.page(query, count).map(toRecord),
    endedCounts() {
      const accepted = archive.awaitingCount()
      return { accepted, finalized: archive.size() - accepted }
    },
    endedSnapshot: () => archive.snapshot(),
    endedSize: () => archive.size(),
    *awaitingMint() {
      // Listed first, and looked at last: a payment that enters or leaves the archive meanwhile must not come twice.
      const listed = [...live.values()].filter(awaitsMint)
      for (const ended of archive.awaitingMint()) yield toRecord(ended)
      for (const payment of listed) {
        if (live.get(payment.challenge.nonce) === payment && awaitsMint(payment)) yield payment
      }
    },
  }
}

const awaitsMint = (payment: PaymentRecord) => awaitedBurnOf(payment) !== undefined
