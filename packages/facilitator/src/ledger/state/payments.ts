/** All payments of a ledger: those that can still change (live), and those that ended, packed in the archive. */
import { type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import type { Challenge, Finalized } from '../../payment/records.js'
import { dueFeeOf } from '../../payment/sweep/due.js'
import { createLedgerArchive } from '../archive/archive.js'
import type { EndedPayment } from '../archive/packing.js'
import type { ArchiveQuery } from '../archive/pages.js'
import type { ArchiveSnapshot } from '../archive/snapshots.js'
import { awaitedBurnOf, isKept, type PaymentRecord, toRecord } from './payment-record.js'

export type Payments = {
  /** Payments that can still change: not accepted, or with an open grant. */
  readonly live: ReadonlyMap<ChallengeNonce, PaymentRecord>
  find(nonce: ChallengeNonce): PaymentRecord | undefined
  /** Finds a payment without looking at its mint, so that the time taken does not tell whether there is one. */
  findWithoutMint(nonce: ChallengeNonce): Omit<PaymentRecord, 'finalized'> | undefined
  /** Throws `SvcError('payment_lost')` when no payment that can change has this nonce. */
  liveOf(nonce: ChallengeNonce): PaymentRecord
  put(payment: PaymentRecord): void
  /** The live payment. One that ended without its mint comes back from the archive first. */
  changeable(nonce: ChallengeNonce): PaymentRecord | undefined
  /** The live payment. One that ended, even with its mint, comes back from the archive first. */
  reopened(nonce: ChallengeNonce): PaymentRecord | undefined
  isArchived(nonce: ChallengeNonce): boolean
  archiveIfEnded(payment: PaymentRecord): void
  /** Whether the payment ended, and its mint is still to come. */
  endedAwaitsMint(nonce: ChallengeNonce): boolean
  /** False when the payment did not end, or its mint does not fit into the archive. */
  finalizeEnded(nonce: ChallengeNonce, finalized: Finalized): boolean
  /** Notes that a sweep took the fee of a payment. */
  markSwept(nonce: ChallengeNonce): void
  /** Forgets a challenge without a claim, a late burn or another transfer. */
  forget(nonce: ChallengeNonce): void
  challenges(): Iterable<Challenge>
  endedPage(query: ArchiveQuery, count: number): PaymentRecord[]
  endedCounts(): { readonly accepted: number; readonly finalized: number }
  endedSnapshot(): ArchiveSnapshot
  endedSize(): number
  awaitingMint(): Iterable<PaymentRecord>
  /** Payments whose fee is due and that no sweep has taken. */
  withDueFee(): Iterable<PaymentRecord>
}

/** A payment for which `isHeldBack` is true stays live, although it ended. */
export function createPayments(isHeldBack: (nonce: ChallengeNonce) => boolean): Payments {
  const live = new Map<ChallengeNonce, PaymentRecord>()
  const archive = createLedgerArchive()

  function takeOut(nonce: ChallengeNonce): void {
    const ended = archive.takeOut(nonce)
    if (ended) live.set(nonce, toRecord(ended))
  }

  /**
   * Live payments are listed first and looked at last: one that enters or leaves the archive meanwhile must not come
   * twice.
   */
  function* both(
    isWanted: (payment: PaymentRecord) => boolean,
    archived: () => Iterable<EndedPayment>,
  ): Iterable<PaymentRecord> {
    const listed = [...live.values()].filter(isWanted)
    for (const ended of archived()) yield toRecord(ended)
    for (const payment of listed) {
      if (live.get(payment.challenge.nonce) === payment && isWanted(payment)) yield payment
    }
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
      const { challenge, claim, accepted, late, unmatched, finalized, swept, granted } = payment
      if (!granted || !accepted || !claim || late || unmatched || isHeldBack(challenge.nonce)) return
      const ends = { ...(finalized && { finalized }), ...(swept && { swept }) }
      const ended = { challenge, identity: claim.identity, ...accepted, ...ends }
      if (archive.add(ended)) live.delete(challenge.nonce)
    },
    endedAwaitsMint: (nonce) => archive.isAwaitingMint(nonce),
    finalizeEnded: (nonce, finalized) => archive.isAwaitingMint(nonce) && archive.finalize(nonce, finalized),
    markSwept(nonce) {
      const payment = live.get(nonce)
      if (payment) payment.swept = true
      else archive.markSwept(nonce)
    },
    forget(nonce) {
      const payment = live.get(nonce)
      if (payment && !isKept(payment)) live.delete(nonce)
    },
    *challenges() {
      // Live payments come first. One that ends meanwhile is in the snapshot, which is taken later; one that is reopened
      // meanwhile is at the end of the live map.
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
    awaitingMint: () => both(awaitsMint, archive.awaitingMint),
    withDueFee: () => both(hasDueFee, archive.withOpenFee),
  }
}

const awaitsMint = (payment: PaymentRecord) => awaitedBurnOf(payment) !== undefined
const hasDueFee = (payment: PaymentRecord) => dueFeeOf(payment) !== undefined
