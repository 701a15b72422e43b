/** An offer as a payment needs it: read once, by its form. */
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
  zeroAddress,
} from '@svc-zerc20/protocol'
import { PayerError } from './payer-error.js'

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

/** The last second that a date can show. */
const lastSecond = 8_640_000_000_000

/**
 * Reads the facts of an offer. Only the form is checked, so that a payment already made stays readable past
 * its expiry.
 */
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
  if (Math.max(facts.expiresAt, facts.deadline ?? 0) > lastSecond) {
    throw new PayerError('offer_malformed', 'a time of the offer is beyond every calendar')
  }
  if ([token, burnAddress, facts.helper].includes(zeroAddress)) {
    throw new PayerError('offer_malformed', 'an address of the offer is zero')
  }
  // The fee is shown to people as a part of the amount, so it must be one.
  if (extra.fee !== undefined && BigInt(extra.fee.amount) >= value) {
    throw new PayerError('offer_malformed', `extra.fee.amount is ${extra.fee.amount}, the amount is ${value}`)
  }
  return { ...facts, challengeNonce, chainId, token, payTo: burnAddress, amount: value }
}

/** The facts of one of several offers. One that cannot be read is an error that says so. */
export function offerIn(raw: unknown): PayableOffer | PayerError {
  try {
    return readOffer(Offer.x402Version, raw)
  } catch (error) {
    if (error instanceof PayerError) return error
    throw error
  }
}

/** Whether an offer lives longer than `neededSeconds` from now. */
export const isFresh = (offer: PayableOffer, nowSeconds: number, neededSeconds = 0): boolean =>
  offer.expiresAt > nowSeconds + neededSeconds

/** Refuses an offer that has expired, or will expire before its payment is through. */
export function checkFresh(offer: PayableOffer, nowSeconds: number, neededSeconds = 0): void {
  if (isFresh(offer, nowSeconds, neededSeconds)) return
  const left = `expiresAt is ${offer.expiresAt}, now is ${nowSeconds}`
  throw new PayerError('offer_expired', neededSeconds > 0 ? `${left}, ${neededSeconds} s are needed` : left)
}
