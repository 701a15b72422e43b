/** From a request to the resource: the 402, the payment, the answer. */
import { type ChallengeNonce, Headers, Offer, parseTxHash, type TxHash } from '@svc-zerc20/protocol'
import { deliverPayments } from '../delivery/deliver-payments.js'
import { PayerError } from '../payer-error.js'
import { readAnswer } from '../payment/outcome.js'
import type { PaymentRecord } from '../payment/payment-memory.js'
import type { Bounds } from '../policy/purchase.js'
import type { PayerScheme } from '../scheme/client-scheme.js'
import { cheapestOf, type Quote, type QuotedOffer, quoteOf } from './quote.js'

/** The facts of a payment that bought an answer. */
export type Payment = {
  readonly challengeNonce: ChallengeNonce
  readonly network: string
  readonly token: string
  readonly amount: string
  readonly fee: string | undefined
  /** The burn: our own transfer, or the one that the seller names. */
  readonly transaction: TxHash | undefined
  /** True when an earlier request made the payment, and its answer was lost. */
  readonly isResumed: boolean
}

export type Purchased = {
  /** The seller's answer. Its content is a stranger's. */
  readonly response: Response
  /** Undefined when the answer cost nothing. */
  readonly payment: Payment | undefined
}

/** The limits hold for whatever is signed, a payment that an earlier request began included. */
export type PayOptions = Pick<Bounds, 'max' | 'asQuoted'> & {
  /** Called at each step of the purchase. */
  readonly onStep?: ((step: PayStep) => void) | undefined
}

export type PayStep =
  | { readonly step: 'asking' }
  | { readonly step: 'offered'; readonly quote: Quote; readonly chosen: QuotedOffer }
  | { readonly step: 'presenting'; readonly challengeNonce: ChallengeNonce }

export async function buy(
  request: Request,
  payer: PayerScheme,
  fetch: typeof globalThis.fetch,
  {
    max,
    asQuoted,
    onStep = () => undefined,
    isOnlyStored = false,
  }: PayOptions & Pick<Bounds, 'isOnlyStored'>,
): Promise<Purchased> {
  const scheme = payer.within({ max, asQuoted, isOnlyStored })
  let claimed: PaymentRecord | undefined
  const deliver = deliverPayments(fetch, {
    ...scheme,
    deliveries: {
      ...scheme.deliveries,
      async claim(key) {
        claimed = await scheme.deliveries.claim(key)
        if (claimed) onStep({ step: 'presenting', challengeNonce: claimed.challengeNonce })
        return claimed
      },
    },
  })
  onStep({ step: 'asking' })
  const paid = request.clone()
  const first = await deliver(request)
  if (first.status !== 402 || isOnlyStored) {
    const isOurs = claimed !== undefined && readAnswer(first).settleResponse !== undefined
    return {
      response: first,
      payment: claimed && isOurs ? paymentOf(claimed.accepted, first, claimed) : undefined,
    }
  }
  const quote = await quoteOf(request, first, scheme)
  const chosen = choose(quote)
  onStep({ step: 'offered', quote, chosen })
  const { accepted, offer } = chosen
  const { payload } = await scheme.createPaymentPayload(
    Offer.x402Version,
    accepted as Parameters<PayerScheme['createPaymentPayload']>[1],
  )
  const echo = scheme.deliveries.originOf(offer.challengeNonce)?.echo
  paid.headers.set(
    Headers.paymentSignature,
    Headers.encode({ x402Version: Offer.x402Version, accepted, payload, ...echo }),
  )
  onStep({ step: 'presenting', challengeNonce: offer.challengeNonce })
  const response = await deliver(paid)
  return { response, payment: paymentOf(accepted, response, undefined) }
}

/** The cheapest allowed offer. If all are refused, the first one: its refusal becomes the error. */
function choose(quote: Quote): QuotedOffer {
  const { offers, otherSchemes, url } = quote
  const chosen = cheapestOf(quote) ?? offers[0]
  if (chosen) return chosen
  const others = otherSchemes.length > 0 ? otherSchemes.slice(0, 10).join(', ') : 'nothing'
  throw new PayerError('not_offered', `${url} offers ${others}`)
}

function paymentOf(
  accepted: Offer.PaymentRequirements,
  response: Response,
  claimed: PaymentRecord | undefined,
): Payment {
  const { network, asset, amount, extra } = accepted
  const { settleResponse } = readAnswer(response)
  return {
    challengeNonce: extra.challengeNonce as ChallengeNonce,
    network,
    token: asset,
    amount,
    fee: extra.fee?.amount,
    transaction: claimed?.burn?.hash ?? parseTxHash(settleResponse?.transaction),
    isResumed: claimed !== undefined,
  }
}
