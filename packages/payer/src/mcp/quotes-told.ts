/** The prices that agents were told. An agent pays no more than the told price, and in no other token. */
import { createBoundedMap } from '@svc-zerc20/protocol'
import { keyOf } from '../delivery/unpaid-request.js'
import { cheapestOf, type Quote } from '../payer/quote.js'
import type { AsQuoted } from '../policy/purchase.js'

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
      const { offer } = cheapestOf(quote) ?? {}
      // Free and refused bind as well: an agent that was told so has agreed to no price.
      last.set(keyOf(quote), offer ? { token: offer.token, amount: offer.amount } : 'nothing')
    },
    of: (request) => last.get(keyOf(request)),
    forget: (request) => last.delete(keyOf(request)),
  }
}
