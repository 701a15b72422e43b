/** A purchase before it is made, and its form in the totals and the log. */

import { createHash } from 'node:crypto'
import { type Address, type BaseUnits, type Network, type Offer, parseUrl } from '@svc-zerc20/protocol'
import type { PayableOffer } from '../offer.js'
import { printable } from '../printable.js'
import { type Target, toolCallMethod, unknownHost } from '../state/payments.js'
import { hourOf, pairOf, type Reservation } from '../state/spend-state.js'
import type { ApprovalRequest } from './approval.js'
import { hostOf } from './hosts.js'
import { termsHash, type Way } from './permission.js'

/** A purchase before it is made. */
export type Purchase = {
  readonly offer: PayableOffer
  readonly accepted: Offer.PaymentRequirements
  readonly way: Way
  /** Method and URL of the request, as the caller made it. Undefined beneath a client that does not tell. */
  readonly asked: Target | undefined
  /** Method and URL at which the offer was made, after redirects. Undefined beneath a client that does not tell. */
  readonly target: Target | undefined
  /** The body of the request. Undefined beneath a client that does not tell. */
  readonly body: BodyFacts | 'none' | undefined
  readonly bounds: Bounds
}

/** A price that was told, or that nothing would be paid. */
export type AsQuoted = 'nothing' | { readonly token: Address; readonly amount: bigint }

/** Limits for one request alone. They only add to those of the policy. */
export type Bounds = {
  /** A cap for this payment, in base units. */
  readonly max?: BaseUnits | undefined
  /** What was told before for this request. A higher price or another token is refused. */
  readonly asQuoted?: AsQuoted | undefined
  /** Payments that were signed before are presented, and nothing is signed. */
  readonly isOnlyStored?: boolean
  /** Ends the purchase before a signature is made, and withdraws the question to a human. */
  readonly signal?: AbortSignal | undefined
  /** Called when a human is asked. */
  readonly onAsking?: ((request: ApprovalRequest) => void) | undefined
  /** Called right before a signature is made. From then on a process that ends may leave a burn behind. */
  readonly onSigning?: (() => void) | undefined
}

/** The reservation that a purchase needs. */
export function reservationFor(
  purchase: Purchase,
  {
    owner,
    payer,
    addresses,
    network,
    nowMs,
  }: {
    readonly owner: string
    readonly addresses: readonly string[]
    readonly payer: Address
    readonly network: Network.Network
    readonly nowMs: number
  },
): Reservation {
  const { offer, way, target } = purchase
  const { token, payTo, amount, helper, expiresAt, deadline } = offer
  return {
    owner,
    terms: termsHash(payer, way, offer),
    pair: pairOf(network, token),
    host: (target && hostOf(target.url)?.hostname) ?? unknownHost,
    addresses,
    route: routeOf(purchase),
    amount: `${amount}`,
    hour: hourOf(nowMs),
    way,
    token,
    payTo,
    helper,
    payer,
    expiresAt,
    deadline,
  }
}

const routeCharsMax = 300

/**
 * The key of a remembered price: method, origin and path of the request as the caller made it, because a seller
 * chooses where redirects lead. The query is left out, because it varies.
 */
export function routeOf({ asked, accepted }: Pick<Purchase, 'asked' | 'accepted'>): string {
  if (asked === undefined) return `unknown ${accepted.asset}`
  return printable(`${asked.method} ${new URL(asked.url).origin}${pathOf(asked)}`, routeCharsMax)
}

/** Method and URL of a request, from the key under which its payment is remembered. */
export function targetOf(request: string | undefined): Target | undefined {
  const [method = '', url = ''] = (request ?? '').split(' ') // a hash of the body may follow
  return parseUrl(url) ? { method, url } : undefined
}

/** Host and port of a target, as a human reads them. */
export function placeOf({ url }: Target): string {
  const { hostname = 'unknown', port } = hostOf(url) ?? {}
  return `${hostname}:${port}`
}

/** Longest URL that a human is shown whole: every URL that a tool takes is. */
const shownCharsMax = 2_048

/** The URL of a target, as a human reads it: what is not shown is held by its hash. */
export function shownUrlOf({ method, url }: Target): string {
  const { href, hash } = new URL(url)
  const whole = method === toolCallMethod ? href : href.slice(0, href.length - hash.length)
  const rest = whole.length - shownCharsMax
  const more = rest > 0 ? ` and ${rest} more characters, sha256 ${sha256Of(whole)}` : ''
  return `${printable(whole, shownCharsMax)}${more}`
}

/**
 * One hash over everything that a human's yes covers: what will be signed, the request as it was made, and the request that is
 * paid for. Where a client tells no request, the yes is for the signature alone.
 */
export function approvalHash(
  terms: string,
  { asked, target, body }: Pick<Purchase, 'asked' | 'target' | 'body'>,
): string {
  const bytes = typeof body === 'object' ? body.sha256 : body
  const bought = [asked?.method, asked?.url, target?.method, target?.url, bytes]
  return `0x${sha256Of(['svc-zerc20 approval 1', terms, ...bought.map((fact) => fact ?? 'unknown')].join('\n'))}`
}

/** A body in one line: what cannot be shown is held by its hash. */
export const bodyText = (body: BodyFacts | 'none'): string =>
  body === 'none' ? 'none' : `${body.bytes} bytes, ${JSON.stringify(body.start)}…, sha256 ${body.sha256}`

/** The path of a target, as a remembered price has it. */
function pathOf({ method, url }: Target): string {
  const { pathname, hash } = new URL(url)
  return printable(method === toolCallMethod ? `${pathname}${hash}` : pathname, routeCharsMax)
}

export type BodyFacts = { readonly bytes: number; readonly start: string; readonly sha256: string }

const startBytes = 64

/** Reads the body of a request, and leaves the request usable. */
export async function bodyOf(request: Request): Promise<BodyFacts | 'none'> {
  if (request.body === null) return 'none'
  const body = Buffer.from(await request.clone().arrayBuffer())
  const start = printable(body.subarray(0, startBytes).toString('latin1'), startBytes)
  return { bytes: body.length, start, sha256: sha256Of(body) }
}

const sha256Of = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
