/** The operator's view of the ledger. */
import { type Books, countsOf, type PageQuery, pageOf } from '../payment/books.js'
import type { LedgerCore } from './core.js'

export function createBooks(core: LedgerCore): Books {
  const { state, clock } = core

  /** Ended payments for a page: as many as it shows, and one more that tells whether more follow. */
  function endedFor({ since = 0, until = Number.POSITIVE_INFINITY, after, limit, ...query }: PageQuery) {
    const { phase, isLate, isDemoted, epoch } = query
    if (isLate || isDemoted || phase === 'open' || phase === 'expired') return []
    const isFinalized = phase === undefined ? undefined : phase === 'finalized'
    return state.endedPage({ since, until, after, isFinalized, epoch }, limit + 1)
  }

  return {
    async page(query) {
      core.sweep()
      return pageOf([...endedFor(query), ...state.live()], query, clock.now())
    },
    async find(nonce) {
      core.sweep()
      const payment = state.find(nonce)
      return payment && core.isForgotten(payment) ? undefined : payment
    },
    async counts() {
      core.sweep()
      const live = countsOf(state.live(), clock.now())
      const ended = state.endedCounts()
      return {
        ...live,
        accepted: live.accepted + ended.accepted,
        finalized: live.finalized + ended.finalized,
      }
    },
    unmatched: async (limit) => state.unmatched().slice(-limit).reverse(),
  }
}
