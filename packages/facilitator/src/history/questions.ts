/** What participants ask of the history: pages, one payment, totals, everything. Each is answered from an index of the store. */
import type { Address, BaseUnits, ChallengeNonce, UnixSeconds } from '@svc-zerc20/protocol'
import type { Sum } from '../payment/books.js'
import type { HistoryPayment, HistoryPhase } from './payment.js'

/** Whose payments are looked at. A question never leaves its scope, whatever its cursor says. */
export type HistoryScope =
  | { readonly kind: 'treasury'; readonly treasury: Address }
  | { readonly kind: 'payer'; readonly payer: Address }

export type HistoryFilter = {
  readonly scope: HistoryScope
  readonly phase?: HistoryPhase | undefined
  /** Bounds of `timeOf`: from `since` on, and before `until`. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Bounds of `amountOf`, both included. */
  readonly amountMin?: BaseUnits | undefined
  readonly amountMax?: BaseUnits | undefined
  /** A mint that `toldFinalityAt` puts at this second or later is passed over: the payment counts as accepted, or late. */
  readonly finalityBefore?: UnixSeconds | undefined
}

export type HistoryQuery = HistoryFilter & {
  /** The place behind which the page begins, from the page before. Anything else is refused. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A page may be short, and even empty, while more follow: the work for one page is bounded. */
export type HistoryPage = { readonly payments: readonly HistoryPayment[]; readonly next?: string }

export type HistoryTotals = {
  /** Burns that bought something, minted or not. Their fees are part of them. */
  readonly accepted: Sum
  readonly fees: Sum
  /** Burns that bought nothing. Beside an accepted burn only the difference counts. */
  readonly late: Sum
  /** Mints of both, by the time of their burns. */
  readonly finalized: Sum
}

export type HistoryBooks = {
  find(nonce: ChallengeNonce): Promise<HistoryPayment | undefined>
  /** Newest first. `bad_cursor` for a place that no page gave. */
  page(query: HistoryQuery): Promise<HistoryPage | 'bad_cursor'>
  /** Everything that the filter takes, as it was when the first was read, oldest first. Memory holds a few payments. */
  all(filter: HistoryFilter): AsyncIterable<HistoryPayment>
  totals(
    scope: HistoryScope,
    period: { readonly since: number; readonly until: number },
  ): Promise<HistoryTotals>
}
