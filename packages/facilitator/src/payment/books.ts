/** The ledger as an operator may read it: pages of payments, newest first, and counts. Nothing here changes it. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { isSameEpoch } from './epochs/epoch.js'
import { stateAt } from './lifecycle.js'
import type { AddressEpoch, Finalized, LateReason, Payment, PaymentState, UnmatchedBurn } from './records.js'

export type RecordedPayment = Payment & {
  readonly finalized?: Finalized
  /** Why its late burn buys nothing. */
  readonly lateReason?: LateReason
  /** Its mint, when the payment was accepted by another burn. */
  readonly lateMinted?: Finalized
  readonly unmatched?: readonly UnmatchedBurn[]
  /** A sweep took the fee. */
  readonly swept?: true
}

/** A place in the order of pages: the last payment of the page before. */
export type Cursor = { readonly issuedAt: number; readonly nonce: ChallengeNonce }

export type PageQuery = {
  readonly phase?: PaymentState | undefined
  /** Only payments with a late burn. */
  readonly isLate?: boolean | undefined
  /** Only payments whose burn a reorg took after it was accepted. */
  readonly isDemoted?: boolean | undefined
  /** Only payments of this epoch, whenever they were issued. */
  readonly epoch?: AddressEpoch | undefined
  /** Bounds of `issuedAt` in unix seconds: from `since` on, and before `until`. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly after?: Cursor | undefined
  readonly limit: number
}

export type Page = { readonly payments: readonly RecordedPayment[]; readonly next?: Cursor }

export type Counts = Readonly<Record<PaymentState, number>> & {
  /** Open payments for which a payload was presented and whose burn is under way. */
  readonly claimed: number
  readonly late: number
  /** Burns that were not late, but bought nothing either. */
  readonly found: number
  readonly unmatched: number
}

/** A transfer that covers nothing, and the challenge it was meant for. */
export type RecordedTransfer = UnmatchedBurn & { readonly challengeNonce: ChallengeNonce }

export type Books = {
  /** A payment that is issued while pages are read does not move the others. */
  page(query: PageQuery): Promise<Page>
  find(nonce: ChallengeNonce): Promise<RecordedPayment | undefined>
  counts(): Promise<Counts>
  /** The newest ones, newest first, at most `limit`. */
  unmatched(limit: number): Promise<readonly RecordedTransfer[]>
}

export function pageOf(payments: Iterable<RecordedPayment>, query: PageQuery, nowMs: number): Page {
  const { phase, isLate, isDemoted, epoch, since = 0, until = Number.POSITIVE_INFINITY, after, limit } = query
  const wanted: RecordedPayment[] = []
  for (const payment of payments) {
    const { issuedAt } = payment.challenge
    if (issuedAt < since || issuedAt >= until) continue
    if (after && compare(cursorOf(payment), after) <= 0) continue
    if (isLate && !payment.late) continue
    if (isDemoted && !payment.demoted) continue
    if (epoch && !isSameEpoch(epoch, payment.challenge.epoch)) continue
    if (phase !== undefined && stateAt(payment, nowMs) !== phase) continue
    wanted.push(payment)
  }
  wanted.sort((a, b) => compare(cursorOf(a), cursorOf(b)))
  const page = wanted.slice(0, limit)
  const last = page.at(-1)
  return { payments: page, ...(last && wanted.length > limit && { next: cursorOf(last) }) }
}

export function countsOf(payments: Iterable<RecordedPayment>, nowMs: number): Counts {
  const counts = {
    open: 0,
    expired: 0,
    accepted: 0,
    finalized: 0,
    claimed: 0,
    late: 0,
    found: 0,
    unmatched: 0,
  }
  for (const payment of payments) {
    const state = stateAt(payment, nowMs)
    counts[state] += 1
    if (state === 'open' && payment.claim) counts.claimed += 1
    if (payment.late) counts[payment.lateReason === undefined ? 'late' : 'found'] += 1
    counts.unmatched += payment.unmatched?.length ?? 0
  }
  return counts
}

const cursorOf = ({ challenge }: RecordedPayment): Cursor => ({
  issuedAt: challenge.issuedAt,
  nonce: challenge.nonce,
})

/** Newest first. */
function compare(a: Cursor, b: Cursor): number {
  if (a.issuedAt !== b.issuedAt) return b.issuedAt - a.issuedAt
  if (a.nonce === b.nonce) return 0
  return a.nonce < b.nonce ? 1 : -1
}
