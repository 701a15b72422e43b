/**
 * A `fetch` that sits beneath an official client and sees every payment through to the resource.
 *
 * The hooks of the official clients leave gaps: fetch reports no broken connection and sends again only once,
 * axios 2.11 reports no answers at all. Beneath them the request, the answer and its failure are all known.
 */
import { type ChallengeNonce, Headers, Json, Offer, parseChallengeNonce } from '@svc-zerc20/protocol'
import type { PayerScheme } from './client-scheme.js'
import { unixSeconds } from './clock.js'
import { judgeAnswer, type Outcome, readAnswer, wasUsed } from './outcome.js'
import { PayerError } from './payer-error.js'
import type { PaymentRecord } from './payment-memory.js'

type Fetch = typeof globalThis.fetch

/**
 * - A payment answered with `pending_burn` is sent again, bounded, instead of being made again.
 * - A payment whose answer was lost is presented first when the same request is made again. When its one
 *   answer was given already, that is said once, as `payment_used`, before anything is paid anew.
 * - A transfer that was not confirmed in time is waited for further when the same request is made again.
 * - The permit nonce of a payment is free for the next one as soon as its answer is there.
 * - A request that carries a payment does not follow redirects: nobody else gets to see the payment.
 */
export function deliverPayments(fetch: Fetch, payer: PayerScheme): Fetch {
  const { deliveries, limits, clock } = payer

  /** Presents a payment until its answer is final. */
  async function present(request: Request, nonce: ChallengeNonce): Promise<[Response, Outcome]> {
    for (;;) {
      let response: Response
      try {
        response = await fetch(new Request(request.clone(), { redirect: 'manual' }))
      } catch (error) {
        await deliveries.ended(nonce, 'unknown')
        throw error
      }
      const outcome = judgeAnswer(readAnswer(response))
      if ((await deliveries.ended(nonce, outcome)) === 'done') return [response, outcome]
      await response.body?.cancel()
      await clock.sleep(limits.resendDelayMs, request.signal)
    }
  }

  function remember(request: Request, response: Response): Response {
    const offered = response.status === 402 ? readOffered(response) : undefined
    for (const nonce of offered?.nonces ?? []) {
      deliveries.offered(nonce, { request: keyOf(request), echo: offered?.echo ?? {} })
    }
    return response
  }

  async function headerOf(record: PaymentRecord): Promise<string> {
    if (record.header !== undefined) return record.header
    const { accepted, echo } = record
    const { payload } = await payer.createPaymentPayload(
      Offer.x402Version,
      accepted as Parameters<PayerScheme['createPaymentPayload']>[1],
    )
    return Headers.encode({ x402Version: Offer.x402Version, accepted, payload, ...echo })
  }

  /** The answer to a stored payment, or undefined when it cannot be used and a fresh one is in order. */
  async function presentStored(request: Request, record: PaymentRecord): Promise<Response | undefined> {
    const { challengeNonce, accepted, burn } = record
    const paid = new Request(request.clone())
    try {
      paid.headers.set(Headers.paymentSignature, await headerOf(record))
    } catch (error) {
      if (error instanceof PayerError && error.code === 'burn_reverted') return undefined
      throw error
    }
    const [response, outcome] = await present(paid, challengeNonce)
    if (response.status !== 402) return response
    await response.body?.cancel()
    // The seller did answer, and the answer did not arrive. Whether to pay a second time is the caller's to say.
    if (wasUsed(readAnswer(response))) {
      throw new PayerError('payment_used', `challenge ${challengeNonce}`, burn && { burnTxHash: burn.hash })
    }
    const over = outcome === 'unknown' && accepted.extra.expiresAt <= unixSeconds(clock)
    if (over) await deliveries.ended(challengeNonce, 'refused')
    if (over || outcome === 'refused') return undefined
    throw new PayerError('payment_pending', `challenge ${challengeNonce}`, burn && { burnTxHash: burn.hash })
  }

  return async (input, init) => {
    const request = new Request(input, init)
    const header = request.headers.get(Headers.paymentSignature)
    if (header !== null) {
      const nonce = readChallengeNonce(header)
      const ours = nonce && (await deliveries.presenting(nonce, keyOf(request), header))
      return ours ? (await present(request, nonce))[0] : fetch(request)
    }
    const stored = await deliveries.claim(keyOf(request))
    const answer = stored && (await presentStored(request, stored))
    return answer ?? remember(request, await fetch(request))
  }
}

const keyOf = (request: Request) => `${request.method} ${request.url}`

function readChallengeNonce(header: string): ChallengeNonce | undefined {
  const decoded = Headers.decode(header)
  if (!decoded.ok || !Json.isObject(decoded.value)) return undefined
  const { accepted, payload } = decoded.value
  if (!Json.isObject(accepted) || accepted.scheme !== Offer.scheme || !Json.isObject(payload))
    return undefined
  return parseChallengeNonce(payload.challengeNonce)
}

function readOffered(response: Response) {
  const decoded = Headers.decode(response.headers.get(Headers.paymentRequired))
  if (!decoded.ok || !Json.isObject(decoded.value) || !Array.isArray(decoded.value.accepts)) return undefined
  const { accepts, resource, extensions } = decoded.value
  const nonces = accepts
    .map((raw) => Offer.parse(raw))
    .map((offer) => (offer.ok ? parseChallengeNonce(offer.value.extra.challengeNonce) : undefined))
    .filter((nonce) => nonce !== undefined)
  return { echo: { resource, extensions }, nonces }
}
