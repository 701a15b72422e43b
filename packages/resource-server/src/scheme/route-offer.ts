/** A route's `accepts` entry: a fresh offer for an unpaid request, the echoed offer for a paid one. */
import { type BaseUnits, Headers, Json, type Network, Offer, SvcError } from '@svc-zerc20/protocol'
import type { HTTPRequestContext, PaymentOption } from '@x402/core/http'
import type { PaymentRequirements } from '@x402/core/types'
import type { Offers } from '../offers/offers.js'
import { type ListPrice, parsePrice, type SaleTerms, toTerms } from '../offers/terms.js'
import { highestPrice, type PricedRequest, RepeatedQuery } from '../visits/priced-request.js'
import { visits } from '../visits/visit.js'
import type { RequestOffer, RequestOffers } from './request-offers.js'

export type RouteSale = SaleTerms & {
  /**
   * The list price. A function is called for each request, paid or not. It sees the route parameters of the handler, one value
   * for each name of the query, and one path for all spellings that the router takes for the same. Where nobody can tell how
   * the handler reads the path, it is called for each reading, and the highest price counts.
   */
  readonly price: ListPrice | ((request: PricedRequest) => ListPrice | Promise<ListPrice>)
}

/** Verbs whose answers never contain the resource, so they cannot be sold. */
const unsellable = ['HEAD', 'OPTIONS', 'TRACE', 'CONNECT']

export const isSellable = (method: string): boolean => !unsellable.includes(method)

// The middleware builds requirements from `payTo` and `price` alone. The whole offer travels with them under a symbol,
// which JSON leaves out, until `withWholeOffer` puts it in place.
const wholeOffer = Symbol('svc-zerc20.offer')

export type RouteOfferDeps = {
  readonly network: Network.Network
  readonly offers: Offers
  readonly requestOffers: RequestOffers
}

export function createRouteOffer(deps: RouteOfferDeps, sale: RouteSale): PaymentOption {
  const { network, offers, requestOffers } = deps
  const { price } = sale
  const terms = toTerms(sale)
  const listPrice =
    typeof price === 'function'
      ? (context: HTTPRequestContext) =>
          highestPrice(
            context,
            visits.getStore(),
            async (request) => parsePrice(await price(request)),
            (list) => list,
          )
      : constant(parsePrice(price))
  const perRequest = new WeakMap<HTTPRequestContext, Promise<RequestOffer>>()

  async function resolve(context: HTTPRequestContext): Promise<RequestOffer> {
    const visit = visits.getStore()
    const { method, path } = { ...context, ...(visit && { path: visit.path }) }
    const list = await listPrice(context).catch((error: unknown) => {
      // A gate answers it with 400; a route table could only answer 500, and writes that to its log.
      if (visit === undefined && error instanceof RepeatedQuery) return undefined
      throw error
    })
    const bound = { resource: `${method} ${path}`, list: list ?? anyPrice }
    const reissue = async () => {
      visit?.takeOffer()
      return offers.issue(bound, terms)
    }
    const dead = offers.dead(bound)
    // A bare path of the official middleware matches HEAD and OPTIONS too. They are refused without using a challenge.
    if (list === undefined || !isSellable(method)) return { offer: dead, isSpent: false, reissue, dead }
    const payment = readPayment(context.adapter.getHeader(Headers.paymentSignature))
    // A payment for another entry of `accepts` needs no challenge of ours. If it is for none, or is refused, the 402
    // shows a fresh offer in place of this one.
    if (payment !== undefined && !offers.isForUs(payment.accepted)) {
      return { offer: dead, isSpent: true, reissue, dead }
    }
    const echo = payment && offers.restore(payment, bound, terms)
    if (payment !== undefined && echo !== undefined) {
      const challengeNonce = String(echo.extra.challengeNonce)
      visit?.checkPayment({ challengeNonce, payload: payment.payload })
    }
    // For an echo that is not ours, a fresh offer is issued. The echo cannot match it, so the payer gets a 402 with a
    // payable offer, and the facilitator never sees the payment.
    return { offer: echo ?? (await reissue()), isSpent: echo !== undefined, reissue, dead }
  }
  function offerFor(context: HTTPRequestContext): Promise<RequestOffer> {
    const known = perRequest.get(context)
    if (known !== undefined) return known
    const resolved = resolve(context).then((offer) => {
      requestOffers.note(context, offer)
      return offer
    })
    perRequest.set(context, resolved)
    return resolved
  }

  return {
    scheme: Offer.scheme,
    network,
    payTo: async (context) => (await offerFor(context)).offer.payTo,
    price: async (context) => {
      const resolved = await offerFor(context)
      const extra: Record<string | symbol, unknown> = { [wholeOffer]: resolved }
      return { asset: resolved.offer.asset, amount: resolved.offer.amount, extra }
    },
  }
}

/** Replaces the requirements that the middleware built by the whole offer that travelled with the price. */
export function withWholeOffer(built: PaymentRequirements): PaymentRequirements {
  const carrier: Record<string | symbol, unknown> = built.extra
  const resolved = carrier[wholeOffer] as RequestOffer | undefined
  if (resolved === undefined) throw notFromAccept()
  const { offer } = resolved
  resolved.shown = { ...offer, extra: { ...offer.extra } }
  return resolved.shown
}

export const notFromAccept = () =>
  new SvcError('not_from_accept', 'svc-zerc20 entries of accepts must come from accept({ price })')

const anyPrice = 0n as BaseUnits

const constant =
  <T>(value: T) =>
  async () =>
    value

export function readPayment(header: string | undefined): Json.JsonObject | undefined {
  const decoded = header ? Headers.decode(header) : undefined
  if (!decoded?.ok || !Json.isObject(decoded.value)) return undefined
  // A payment of another version will be refused, so it counts as no payment and its echo is not restored.
  return decoded.value.x402Version === Offer.x402Version ? decoded.value : undefined
}
