/** What must hold before anything is signed or sent for an offer. */
import {
  type Address,
  type BaseUnits,
  type ChallengeNonce,
  Network,
  Offer,
  parseAddress,
  parseAmount,
  parseChallengeNonce,
  type UnixSeconds,
} from '@svc-zerc20/protocol'
import { PayerError } from '../payer-error.js'

/** The facts of an offer that a payment depends on, parsed once. */
export type PayableOffer = {
  readonly challengeNonce: ChallengeNonce
  readonly chainId: number
  readonly token: Address
  readonly payTo: Address
  readonly amount: BaseUnits
  readonly expiresAt: UnixSeconds
  readonly helper: Address | undefined
  readonly deadline: UnixSeconds | undefined
}

/** An offer that can be paid by permit. */
export type PermitOffer = PayableOffer & { readonly helper: Address; readonly deadline: UnixSeconds }

/** What the operator of the payer allows an offer to ask for. Undefined is `any`, or `unlimited`. */
export type OfferPins = {
  readonly network: Network.Network
  readonly allowedTokens: readonly Address[] | undefined
  readonly allowedHelpers: readonly Address[] | undefined
  readonly maxAmountPerPayment: BaseUnits | undefined
}

const zeroAddress = `0x${'0'.repeat(40)}`

/** Reads the facts of an offer; form only, so that a payment already made stays readable past its expiry. */
export function readOffer(x402Version: number, raw: unknown): PayableOffer {
  if (x402Version !== Offer.x402Version) {
    throw new PayerError('offer_malformed', `x402Version is ${x402Version}`)
  }
  const parsed = Offer.parse(raw)
  if (!parsed.ok) throw new PayerError('offer_malformed', parsed.message)
  const { network, asset, amount, payTo, extra } = parsed.value
  const facts = {
    challengeNonce: parseChallengeNonce(extra.challengeNonce),
    chainId: Network.parseChainId(network),
    token: parseAddress(asset),
    payTo: parseAddress(payTo),
    amount: parseAmount(amount),
    expiresAt: extra.expiresAt as UnixSeconds,
    helper: parseAddress(extra.helper),
    deadline: extra.deadline as UnixSeconds | undefined,
  }
  const { challengeNonce, chainId, token, payTo: burnAddress, amount: value } = facts
  if (!challengeNonce || !chainId || !token || !burnAddress || !value) {
    throw new PayerError('offer_malformed', 'a field could not be read')
  }
  if ([token, burnAddress, facts.helper].includes(zeroAddress as Address)) {
    throw new PayerError('offer_malformed', 'an address of the offer is zero')
  }
  return { ...facts, challengeNonce, chainId, token, payTo: burnAddress, amount: value }
}

/** Refuses what the operator did not allow and what is too old to pay. */
export function checkOffer(
  offer: PayableOffer,
  pins: OfferPins,
  nowSeconds: number,
  offerSecondsMax: number,
): void {
  if (Network.format(offer.chainId) !== pins.network) {
    throw new PayerError('offer_network', `the offer is for eip155:${offer.chainId}, not ${pins.network}`)
  }
  if (pins.allowedTokens && !pins.allowedTokens.includes(offer.token)) {
    throw new PayerError('offer_token', `token ${offer.token}`)
  }
  if (pins.maxAmountPerPayment !== undefined && offer.amount > pins.maxAmountPerPayment) {
    throw new PayerError('offer_amount', `${offer.amount} is above ${pins.maxAmountPerPayment} base units`)
  }
  checkFresh(offer, nowSeconds)
  if (offer.expiresAt > nowSeconds + offerSecondsMax) {
    throw new PayerError('offer_deadline', `the offer expires only at ${offer.expiresAt}`)
  }
}

/** Whether an offer lives longer than `neededSeconds` from now. */
export const isFresh = (offer: PayableOffer, nowSeconds: number, neededSeconds = 0): boolean =>
  offer.expiresAt > nowSeconds + neededSeconds

/** Refuses an offer that has expired, or will before its payment is through. */
export function checkFresh(offer: PayableOffer, nowSeconds: number, neededSeconds = 0): void {
  if (isFresh(offer, nowSeconds, neededSeconds)) return
  const left = `expiresAt is ${offer.expiresAt}, now is ${nowSeconds}`
  throw new PayerError('offer_expired', neededSeconds > 0 ? `${left}, ${neededSeconds} s are needed` : left)
}

/** Narrows an offer to the permit path. Whether its helper can be trusted is for `helper-trust.ts` to say. */
export function checkPermitOffer(
  offer: PayableOffer,
  nowSeconds: number,
  signatureSecondsMax: number,
): PermitOffer {
  const { helper, deadline } = offer
  if (helper === undefined) throw new PayerError('permit_not_offered', 'extra.helper is absent')
  if (deadline === undefined) throw new PayerError('offer_deadline', 'extra.deadline is absent')
  if (deadline <= nowSeconds) throw new PayerError('offer_deadline', `the deadline ${deadline} has passed`)
  if (deadline > nowSeconds + signatureSecondsMax) {
    const ahead = deadline - nowSeconds
    throw new PayerError('offer_deadline', `the deadline is ${ahead} s away, above ${signatureSecondsMax} s`)
  }
  return { ...offer, helper, deadline }
}
