/** The prices that agents were told. An agent pays no more than the told price, and in no other token. */
import { createBoundedMap } from '@svc-zerc20/protocol'
import { keyOf } from '../delivery/unpaid-request.js'
import type { AsQuoted } from '../payer/pay.js'
import type { Quote } from '../payer/quote.js'

export type QuotesTold = {
  told(quote: Quote): void
  /** The last quote that was told for a request. */
  of(request: Request): AsQuoted | undefined
  forget(request: Request): void
}

/** Requests whose last quote is remembered. The oldest is forgotten first. */
const quotesMax = 1_000

export function createQuotesTold(): QuotesTold {
  const last = createBoundedMap<string, AsQuoted>(quotesMax)
  return {
    told(quote) {
      const [offer] = quote.offers.filter(({ isAllowed }) => isAllowed)
      if (offer) last.set(keyOf(quote), { token: offer.offer.token, amount: offer.offer.amount })
      else last.delete(keyOf(quote))
    },
    of: (request) => last.get(keyOf(request)),
    forget: (request) => last.delete(keyOf(request)),
  }
}
