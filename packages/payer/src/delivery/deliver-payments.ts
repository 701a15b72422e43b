/**
 * A `fetch` that sits beneath an official client and sees every payment through to the resource.
 *
 * The hooks of the official clients leave gaps: fetch reports no broken connection and sends again only once,
 * axios 2.11 reports no answers at all. A `fetch` beneath them sees the request, the answer and every
 * failure.
 */
import { type ChallengeNonce, Headers, Json, Offer, parseChallengeNonce } from '@svc-zerc20/protocol'
import { isServed } from '../outcome.js'
import type { PayerScheme } from '../signing/scheme.js'
import { onBreak } from './bounded-body.js'
import { createDelivery, type Presented } from './delivery.js'
import { purchaseKey } from './unpaid-request.js'

type Fetch = typeof globalThis.fetch

/**
 * - An offer is paid at the URL that made it. The way there may redirect within the origin that was asked; a
 *   request that carries a payment follows no redirect at all.
 * - A payment answered with `pending_burn` is sent again, bounded, instead of being made again.
 * - A payment whose permit nonce another payment used is signed again for the same challenge, which burns at
 *   most once.
 * - A payment whose answer was lost, or broke off, is presented first when the same request is made again. If its one
 *   answer was already given, `payment_used` is thrown once, before anything is paid again.
 * - A transfer that was not confirmed in time is waited for further when the same request is made again.
 * - A payment that is answered with a 402 becomes a `PayerError` with the reason, what to do, and the burn if
 *   there is one.
 * - Answers have bounds in time and size.
 */
export function deliverPayments(fetch: Fetch, payer: PayerScheme): Fetch {
  const { deliveries, burns } = payer
  const delivery = createDelivery(fetch, payer)

  /**
   * Hands the answer on with its head, as `fetch` does: the caller reads the body, or not. A body that breaks off takes
   * the delivery back.
   */
  async function handOver(presented: Presented): Promise<Response> {
    const { response, outcome, record, answer } = presented
    if (!isServed(outcome)) return response
    const burn = await burns.burnOf(record, answer.settleResponse?.transaction)
    await delivery.ended({ ...presented, burn }, outcome)
    return onBreak(response, () => delivery.ended({ ...presented, burn }, 'half'))
  }

  return async (input, init) => {
    const request = new Request(input, init)
    const header = request.headers.get(Headers.paymentSignature)
    const key = await purchaseKey(request)
    if (header !== null) {
      const nonce = readChallengeNonce(header)
      const record = nonce && (await deliveries.presenting(nonce, key, header))
      if (record) return handOver(await delivery.presentNew(request, record, header))
      return delivery.exchange(new Request(request, { redirect: 'manual' }))
    }
    let instead: ChallengeNonce | undefined
    while (instead === undefined) {
      const stored = await deliveries.claim(key)
      if (stored === undefined) break
      const presented = await delivery.presentStored(request, stored, true)
      if ('response' in presented) return handOver(presented)
      instead = presented.instead
    }
    return delivery.ask(request, instead)
  }
}

function readChallengeNonce(header: string): ChallengeNonce | undefined {
  const decoded = Headers.decode(header)
  if (!decoded.ok || !Json.isObject(decoded.value)) return undefined
  const { accepted, payload } = decoded.value
  if (!Json.isObject(accepted) || accepted.scheme !== Offer.scheme || !Json.isObject(payload))
    return undefined
  return parseChallengeNonce(payload.challengeNonce)
}
