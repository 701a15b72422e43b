/** Pages and counts as looking at every payment gives them: what the store is compared with. */
import type { Counts, Cursor, Page, PageQuery } from '../src/payment/books.js'
import { phaseAt } from '../src/payment/lifecycle.js'
import { amountOf, type RecordedPayment } from '../src/payment/records.js'

export function pageOf(payments: Iterable<RecordedPayment>, query: PageQuery, nowMs: number): Page {
  const {
    phase,
    isLate,
    isDemoted,
    amountMin,
    amountMax,
    seller,
    since = 0,
    until = Number.POSITIVE_INFINITY,
    after,
    limit,
  } = query
  const wanted: RecordedPayment[] = []
  for (const payment of payments) {
    const { issuedAt } = payment.challenge
    if (issuedAt < since || issuedAt >= until) continue
    if (after && compare(cursorOf(payment), after) <= 0) continue
    if (amountMin !== undefined && amountOf(payment) < amountMin) continue
    if (amountMax !== undefined && amountOf(payment) > amountMax) continue
    if (seller !== undefined && payment.challenge.seller !== seller) continue
    if (isLate && !payment.late) continue
    if (isDemoted && !payment.demoted) continue
    if (phase !== undefined && phaseAt(payment, nowMs) !== phase) continue
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
    demoted: 0,
    late: 0,
    found: 0,
    unmatched: 0,
  }
  for (const payment of payments) {
    const state = phaseAt(payment, nowMs)
    counts[state] += 1
    if (state === 'open' && payment.claim) counts.claimed += 1
    if (payment.demoted) counts.demoted += 1
    if (payment.late) counts[payment.late.reason === 'late' ? 'late' : 'found'] += 1
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
