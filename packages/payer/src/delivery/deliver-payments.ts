/**
 * A `fetch` that sits beneath an official client and sees every payment through to the resource.
 *
 * The hooks of the official clients leave gaps: fetch reports no broken connection and sends again only once,
 * axios 2.11 reports no answers at all. A `fetch` beneath them sees the request, the answer and every
 * failure.
 */
import { type ChallengeNonce, Headers, Json, Offer, parseChallengeNonce } from '@svc-zerc20/protocol'
import { unixSeconds } from '../clock.js'
import { PayerError } from '../payer-error.js'
import { type Answer, judgeAnswer, type Outcome, readAnswer, wasUsed } from '../payment/outcome.js'
import type { PaymentRecord } from '../payment/payment-memory.js'
import type { PayerScheme } from '../scheme/client-scheme.js'
import { createExchange, type Exchange } from './exchange.js'
import { isRedirect, requestAt } from './redirects.js'
import { burnOf, refusalError } from './refusal.js'
import { createUnpaidRequest, keyOf } from './unpaid-request.js'

type Fetch = typeof globalThis.fetch

type Presented = { readonly response: Response; readonly answer: Answer; readonly outcome: Outcome }

/**
 * - An offer is paid at the URL that made it. The way there may redirect within the origin that was asked; a
 *   request that carries a payment follows no redirect at all.
 * - A payment answered with `pending_burn` is sent again, bounded, instead of being made again.
 * - A payment whose permit nonce another payment used is signed again for the same challenge, which burns at
 *   most once.
 * - A payment whose answer was lost is presented first when the same request is made again. If its one answer
 *   was already given, `payment_used` is thrown once, before anything is paid anew.
 * - A transfer that was not confirmed in time is waited for further when the same request is made again.
 * - A payment that is answered with a 402 becomes a `PayerError` with the reason, what to do, and the burn if
 *   there is one.
 * - Answers have bounds in time and size.
 */
export function deliverPayments(fetch: Fetch, payer: PayerScheme): Fetch {
  const { deliveries, guard, limits, clock } = payer
  const exchange = createExchange({ fetch, checkUrl: guard.checkUrl, clock, limits })
  const headerOf = createHeaderOf(payer)
  const send = createSend(payer, exchange)
  const ask = createUnpaidRequest({ exchange, deliveries, leavesTime: payer.leavesTime, limits })

  /** Presents a payment until its answer is final. */
  async function present(request: Request, record: PaymentRecord, firstHeader: string): Promise<Presented> {
    const { challengeNonce } = record
    for (let header = firstHeader; ; ) {
      const response = await send(request, record, header)
      const answer = readAnswer(response)
      const outcome = judgeAnswer(answer)
      const { transaction } = answer.settleResponse ?? {}
      const next = await deliveries.ended(challengeNonce, outcome, { status: response.status, transaction })
      if (next === 'done') return { response, answer, outcome }
      response.body?.cancel().catch(() => undefined)
      if (next === 'sign_again') header = await signedAgain(record, answer, outcome)
      else await clock.sleep(limits.resendDelayMs, request.signal)
    }
  }

  async function signedAgain(record: PaymentRecord, answer: Answer, outcome: Outcome): Promise<string> {
    const { header: _, ...unsigned } = record
    try {
      const header = await headerOf(unsigned)
      await deliveries.presenting(record.challengeNonce, record.request ?? '', header)
      return header
    } catch (cause) {
      throw refusalError(record, answer, outcome, cause)
    }
  }

  /** The answer to a payment that the official client has just made. */
  async function presentNew(request: Request, record: PaymentRecord, header: string): Promise<Response> {
    if (record.request !== keyOf(request)) {
      throw new PayerError('redirect_refused', `the offer came from ${record.request}`)
    }
    const { response, answer, outcome } = await present(request, record, header)
    if (response.status === 402) throw refusalError(record, answer, outcome)
    return withoutRedirect(request, record, { response, answer, outcome })
  }

  /**
   * The answer to a stored payment. Undefined when that payment cannot be used and a fresh one may be made.
   */
  async function presentStored(request: Request, record: PaymentRecord): Promise<Response | undefined> {
    const { challengeNonce, accepted } = record
    let header: string
    try {
      header = await headerOf(record)
    } catch (error) {
      const code = error instanceof PayerError ? error.code : undefined
      // A process that was killed before it signed leaves a record without payload or burn. Nothing was sent
      // for it.
      const isOnlyIntent = code === 'offer_expired' && !record.payload && !record.burn
      if (code === 'burn_reverted' || code === 'burn_missed' || isOnlyIntent) return undefined
      throw error
    }
    const presented = await present(request, record, header)
    const { response, answer, outcome } = presented
    if (response.status !== 402) return withoutRedirect(request, record, presented)
    // The seller has answered, but the answer did not arrive. The caller decides whether to pay a second
    // time.
    if (wasUsed(answer)) throw refusalError(record, answer, outcome)
    // A claimed payment outlives its offer. After the retention nobody remembers it, so it is surely over.
    const over =
      outcome === 'unknown' && accepted.extra.expiresAt + limits.retentionSeconds <= unixSeconds(clock)
    if (over) await deliveries.ended(challengeNonce, 'refused')
    if (over || outcome === 'refused' || outcome === 'sign_again') return undefined
    throw refusalError(record, answer, outcome)
  }

  return async (input, init) => {
    const request = new Request(input, init)
    const header = request.headers.get(Headers.paymentSignature)
    if (header !== null) {
      const nonce = readChallengeNonce(header)
      const record = nonce && (await deliveries.presenting(nonce, keyOf(request), header))
      if (record) return presentNew(request, record, header)
      return exchange(new Request(request, { redirect: 'manual' }), limits.paidAnswerMsMax)
    }
    const stored = await deliveries.claim(keyOf(request))
    const answer = stored && (await presentStored(request, stored))
    return answer ?? ask(request)
  }
}

/**
 * Sends a payment to the URL that its offer came from. Without an answer the seller may still have taken it.
 */
function createSend({ deliveries, limits }: Pick<PayerScheme, 'deliveries' | 'limits'>, exchange: Exchange) {
  return async (request: Request, record: PaymentRecord, header: string): Promise<Response> => {
    const paid = requestAt(request, record.target ?? { method: request.method, url: request.url })
    paid.headers.set(Headers.paymentSignature, header)
    try {
      return await exchange(paid, limits.paidAnswerMsMax)
    } catch (cause) {
      await deliveries.ended(record.challengeNonce, 'unknown')
      if (request.signal.aborted) throw cause
      const why =
        cause instanceof PayerError ? cause.detail : `the connection broke (${(cause as Error).message})`
      throw new PayerError('payment_unanswered', `challenge ${record.challengeNonce}: ${why}`, {
        cause,
        burnTxHash: record.burn?.hash,
      })
    }
  }
}

/** The header that presents a payment: as it was sent before, or made of its payload. */
function createHeaderOf(payer: Pick<PayerScheme, 'createPaymentPayload'>) {
  return async (record: PaymentRecord): Promise<string> => {
    if (record.header !== undefined) return record.header
    const { accepted, echo } = record
    const { payload } = await payer.createPaymentPayload(
      Offer.x402Version,
      accepted as Parameters<PayerScheme['createPaymentPayload']>[1],
    )
    return Headers.encode({ x402Version: Offer.x402Version, accepted, payload, ...echo })
  }
}

/**
 * A bought redirect goes to the caller, who may follow it without the payment. Any other redirect is refused.
 */
function withoutRedirect(
  request: Request,
  record: PaymentRecord,
  { response, answer, outcome }: Presented,
): Response {
  if (!isRedirect(response) || outcome === 'accepted' || request.redirect === 'manual') return response
  response.body?.cancel().catch(() => undefined)
  const burnTxHash = burnOf(record, answer)
  throw new PayerError('redirect_refused', `the payment for ${record.request} was answered with a redirect`, {
    burnTxHash,
    todo: 'Nobody else saw the payment. Make the same request again: this payment is presented first.',
  })
}

function readChallengeNonce(header: string): ChallengeNonce | undefined {
  const decoded = Headers.decode(header)
  if (!decoded.ok || !Json.isObject(decoded.value)) return undefined
  const { accepted, payload } = decoded.value
  if (!Json.isObject(accepted) || accepted.scheme !== Offer.scheme || !Json.isObject(payload))
    return undefined
  return parseChallengeNonce(payload.challengeNonce)
}
