/** From a request to the resource: the 402, the payment, the answer. */
import {
  type Address,
  type BaseUnits,
  type ChallengeNonce,
  Headers,
  Offer,
  parseTxHash,
  type TxHash,
} from '@svc-zerc20/protocol'
import { deliverPayments } from '../delivery/deliver-payments.js'
import { PayerError } from '../payer-error.js'
import { readAnswer } from '../payment/outcome.js'
import type { PaymentRecord } from '../payment/payment-memory.js'
import type { PayerScheme } from '../scheme/client-scheme.js'
import { refusalOf, type Verdict } from '../verdict.js'
import { type Quote, type QuotedOffer, quoteOf } from './quote.js'

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

export type AsQuoted = { readonly token: Address; readonly amount: bigint }

export type PayOptions = {
  /** A lower cap for this payment alone, in base units. The cap of the policy is never raised. */
  readonly max?: BaseUnits | undefined
  /** The price and token told before for this request. A higher price or another token is refused. */
  readonly asQuoted?: AsQuoted | undefined
  /** Called at each step of the purchase. */
  readonly onStep?: ((step: PayStep) => void) | undefined
}

export type PayStep =
  | { readonly step: 'asking' }
  | { readonly step: 'offered'; readonly quote: Quote; readonly chosen: QuotedOffer }
  | { readonly step: 'presenting'; readonly challengeNonce: ChallengeNonce }

export async function buy(
  request: Request,
  scheme: PayerScheme,
  fetch: typeof globalThis.fetch,
  {
    max,
    asQuoted,
    onStep = () => undefined,
    isOnlyStored = false,
  }: PayOptions & { readonly isOnlyStored?: boolean },
): Promise<Purchased> {
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
  if (max !== undefined && chosen.offer.amount > max) throw refusalOf(aboveMax(chosen, max))
  if (asQuoted && !isAsQuoted(chosen, asQuoted)) throw refusalOf(notAsQuoted(chosen, asQuoted))
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

/** The first offer that no rule refuses. If all are refused, the first one: its refusal becomes the error. */
function choose({ offers, otherSchemes, url }: Quote): QuotedOffer {
  const chosen = offers.find(({ isAllowed }) => isAllowed) ?? offers[0]
  if (chosen) return chosen
  const others = otherSchemes.length > 0 ? otherSchemes.slice(0, 10).join(', ') : 'nothing'
  throw new PayerError('not_offered', `${url} offers ${others}`)
}

const aboveMax = ({ offer }: QuotedOffer, max: BaseUnits): Verdict => ({
  rule: 'per-payment',
  passes: 'no',
  limit: `${max} base units for this payment`,
  asked: `${offer.amount}`,
  code: 'offer_amount',
})

const isAsQuoted = ({ offer }: QuotedOffer, { token, amount }: AsQuoted) =>
  offer.token === token && offer.amount <= amount

const notAsQuoted = ({ offer }: QuotedOffer, { token, amount }: AsQuoted): Verdict => ({
  rule: 'quoted',
  passes: 'no',
  limit: `${amount} of ${token}, as it was quoted`,
  asked: `${offer.amount} of ${offer.token}`,
  code: 'offer_changed',
})

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
