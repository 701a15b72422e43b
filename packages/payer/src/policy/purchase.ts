/** A purchase before it is made, and its form in the totals and the log. */
import { randomUUID } from 'node:crypto'
import type { Address, Network, Offer } from '@svc-zerc20/protocol'
import type { PayableOffer } from '../offer/payable-offer.js'
import type { Target } from '../payment/payment-memory.js'
import { printable } from '../printable.js'
import { hourOf, pairOf, type Reservation } from '../totals/spend-state.js'
import { hostOf } from './hosts.js'
import { termsHash, type Way } from './permission.js'

/** A purchase before it is made. */
export type Purchase = {
  readonly offer: PayableOffer
  readonly accepted: Offer.PaymentRequirements
  readonly way: Way
  /** Method and URL at which the offer was made. Undefined beneath a client that does not tell. */
  readonly target: Target | undefined
}

/** The reservation that a purchase needs, with an owner of its own. */
export function reservationFor(
  { offer, way, target, accepted }: Purchase,
  {
    payer,
    network,
    nowMs,
  }: { readonly payer: Address; readonly network: Network.Network; readonly nowMs: number },
): Reservation {
  const { token, payTo, amount, helper, expiresAt, deadline } = offer
  return {
    owner: randomUUID(),
    terms: termsHash(payer, way, offer),
    isGranted: false,
    isApproved: false,
    pair: pairOf(network, token),
    host: (target && hostOf(target.url)?.hostname) ?? 'unknown',
    route: routeOf(target, accepted),
    amount: `${amount}`,
    hour: hourOf(nowMs),
    ...{ way, token, payTo, helper, payer, expiresAt, deadline },
  }
}

const routeCharsMax = 300

/** Method of a request that stands for a tool call. The name of the tool follows the # in its URL. */
export const toolCallMethod = 'CALL'

/** The key of a remembered price: method, origin and path. The query is left out, because it varies. */
export function routeOf(target: Target | undefined, accepted: Offer.PaymentRequirements): string {
  if (target === undefined) return `unknown ${accepted.asset}`
  return printable(`${target.method} ${new URL(target.url).origin}${pathOf(target)}`, routeCharsMax)
}

/** The path of a target, as a human reads it. */
export function pathOf({ method, url }: Target): string {
  const { pathname, hash } = new URL(url)
  return printable(method === toolCallMethod ? `${pathname}${hash}` : pathname, routeCharsMax)
}
