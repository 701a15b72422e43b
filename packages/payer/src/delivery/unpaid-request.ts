/** The request without a payment: follows redirects with care, and brings an offer that can still be paid. */
import { createHash } from 'node:crypto'
import { type ChallengeNonce, Headers, Json, Offer, parseChallengeNonce } from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'
import { bodyOf } from '../policy/purchase.js'
import type { Deliveries } from '../signing/deliveries.js'
import { type Target, toolCallMethod } from '../state/payments.js'
import type { Exchange } from './exchange.js'
import { isRedirect, isSameOrigin, redirectTarget, requestAt } from './redirects.js'

export type UnpaidLimits = Pick<PayerLimits, 'redirectsMax' | 'freshOffersMax'>

/**
 * Sends the request, and remembers which URL made which offer. An offer is handed on only if every redirect
 * to it stayed on the origin that was asked: another origin could name a price, or have a purchase delivered
 * to itself.
 */
export function createUnpaidRequest({
  exchange,
  deliveries,
  leavesTime,
  limits,
}: {
  readonly exchange: Exchange
  readonly deliveries: Pick<Deliveries, 'offered'>
  readonly leavesTime: (offer: unknown) => boolean
  readonly limits: UnpaidLimits
}): (request: Request, instead?: ChallengeNonce) => Promise<Response> {
  /** The final answer, and where it came from. */
  async function follow(request: Request): Promise<{ response: Response; target: Target; strayed: boolean }> {
    let target: Target = { method: request.method, url: request.url }
    let strayed = false
    for (let hops = 0; ; hops += 1) {
      const response = await exchange(requestAt(request, target))
      if (!isRedirect(response) || request.redirect === 'manual') return { response, target, strayed }
      response.body?.cancel().catch(() => undefined)
      if (request.redirect === 'error' || hops >= limits.redirectsMax) {
        throw new PayerError('redirect_refused', `${request.url} redirects more than ${hops} times`)
      }
      target = redirectTarget(target, response)
      strayed ||= !isSameOrigin(target.url, request.url)
    }
  }

  return async (request, instead) => {
    for (let fresh = 0; ; fresh += 1) {
      const { response, target, strayed } = await follow(request)
      const offered = response.status === 402 ? readOffered(response) : undefined
      if (offered === undefined) return response
      if (strayed) {
        throw new PayerError('redirect_refused', `${request.url} leads to an offer of ${target.url}`)
      }
      const isPayable = offered.offers.length === 0 || offered.offers.some(leavesTime)
      if (!isPayable && fresh < limits.freshOffersMax) continue
      const key = await purchaseKey(request)
      const body = await bodyOf(request)
      for (const nonce of offered.nonces) {
        await deliveries.offered(nonce, { request: key, target, echo: offered.echo, body, instead })
      }
      return response
    }
  }
}

/**
 * The key of a quote: method and URL of the request, as the caller made it. A fragment never reaches the seller, so
 * it makes no other request, except where it names a tool.
 */
export const keyOf = ({ method, url }: Pick<Request, 'method' | 'url'>) =>
  `${method} ${method === toolCallMethod ? url : url.replace(/#.*$/s, '')}`

/**
 * The key of a payment: method, URL and body of the request. Two questions to one URL are two purchases: neither may get
 * the answer that the other paid for.
 */
export async function purchaseKey(request: Request): Promise<string> {
  const route = keyOf(request)
  if (request.body === null) return route
  const body = new Uint8Array(await request.clone().arrayBuffer())
  return `${route} ${createHash('sha256').update(body).digest('hex')}`
}

/** Our offers in a 402; those of other schemes and unreadable ones are for the official client. */
function readOffered(response: Response) {
  const decoded = Headers.decode(response.headers.get(Headers.paymentRequired))
  const required = decoded.ok && Json.isObject(decoded.value) ? decoded.value : {}
  const { accepts, resource, extensions } = required
  const offers = (Array.isArray(accepts) ? accepts : []).filter((raw) => Offer.parse(raw).ok)
  const nonces = offers
    .map((offer) => parseChallengeNonce(offer.extra.challengeNonce))
    .filter((nonce): nonce is ChallengeNonce => nonce !== undefined)
  return { echo: { resource, extensions }, offers, nonces }
}
