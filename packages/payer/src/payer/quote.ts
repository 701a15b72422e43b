/** The price of a URL, and the verdicts of the rules. Nothing is reserved or signed, and no key is needed. */
import { Headers, Json, Offer } from '@svc-zerc20/protocol'
import { offerIn, type PayableOffer } from '../offer.js'
import { PayerError } from '../payer-error.js'
import { targetOf } from '../policy/purchase.js'
import { printable } from '../printable.js'
import type { PayerScheme } from '../signing/scheme.js'
import type { Verdict } from '../verdict.js'

/** One offer of a 402 that this payer can read. */
export type QuotedOffer = {
  readonly accepted: Offer.PaymentRequirements
  readonly offer: PayableOffer
  /** The part of the amount that is a fee, in base units. */
  readonly fee: string | undefined
  readonly verdicts: readonly Verdict[]
  /** No rule refuses the offer. A human may still have to be asked. */
  readonly isAllowed: boolean
}

export type Quote = {
  readonly url: string
  readonly method: string
  /** The status of the answer; anything but 402 costs nothing. */
  readonly status: number
  readonly offers: readonly QuotedOffer[]
  /** Entries of the 402 in schemes that this payer does not pay. */
  readonly otherSchemes: readonly string[]
  /** The seller's description of the resource: a stranger's words. */
  readonly description: string | undefined
}

const wordsMax = 500

/**
 * Of the offers that no rule refuses, the cheapest in the token of the first. Amounts of different tokens cannot be
 * compared.
 */
export function cheapestOf({ offers }: Pick<Quote, 'offers'>): QuotedOffer | undefined {
  const [first, ...others] = offers.filter(({ isAllowed }) => isAllowed)
  return others
    .filter(({ offer }) => offer.token === first?.offer.token)
    .reduce((best, each) => (best && each.offer.amount < best.offer.amount ? each : best), first)
}

/** Reads the offers of an answer and judges each. */
export async function quoteOf(
  request: Pick<Request, 'url' | 'method'>,
  response: Pick<Response, 'status' | 'headers'>,
  scheme: Pick<PayerScheme, 'guard' | 'deliveries' | 'wayOf' | 'bounds'>,
): Promise<Quote> {
  const decoded = Headers.decode(response.headers.get(Headers.paymentRequired))
  const required = response.status === 402 && decoded.ok && Json.isObject(decoded.value) ? decoded.value : {}
  const entries = Array.isArray(required.accepts) ? required.accepts.filter(Json.isObject) : []
  const offers: QuotedOffer[] = []
  const malformed: PayerError[] = []
  for (const raw of required.x402Version === Offer.x402Version ? entries : []) {
    if (raw.scheme !== Offer.scheme) continue
    const offer = offerIn(raw)
    if (offer instanceof PayerError) malformed.push(offer)
    else offers.push(await judged(raw, offer))
  }
  // An entry that cannot be read refuses no good one beside it.
  const [fault] = malformed
  if (fault && offers.length === 0) throw fault
  const { resource } = required
  const words = Json.isObject(resource) ? resource.description : undefined
  return {
    url: request.url,
    method: request.method,
    status: response.status,
    offers,
    otherSchemes: entries
      .map(({ scheme: name }) => (typeof name === 'string' ? printable(name, wordsMax) : 'unreadable'))
      .filter((name) => name !== Offer.scheme),
    description: typeof words === 'string' && words !== '' ? printable(words, wordsMax) : undefined,
  }

  async function judged(raw: Json.JsonObject, offer: PayableOffer): Promise<QuotedOffer> {
    const accepted = raw as Offer.PaymentRequirements
    const { target, request: key, body } = scheme.deliveries.originOf(offer.challengeNonce) ?? {}
    const asked = targetOf(key)
    const { guard, bounds } = scheme
    const verdicts = await guard.judge({
      offer,
      accepted,
      way: scheme.wayOf(offer),
      asked,
      target,
      body,
      bounds,
    })
    const isAllowed = verdicts.every(({ passes }) => passes !== 'no')
    return { accepted, offer, fee: accepted.extra.fee?.amount, verdicts, isAllowed }
  }
}
