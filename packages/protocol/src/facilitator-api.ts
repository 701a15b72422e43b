/** Bodies of the facilitator's endpoints. Unknown keys are ignored and kept. */
import { isObject, type JsonObject } from './json.js'
import type { Network } from './network.js'
import { scheme, x402Version as version } from './offer.js'
import * as Payload from './payload.js'
import { accept, type ReasonCode, type Result, reject } from './reasons.js'

/**
 * The phase that is shown to anybody who holds the challenge nonce. "Finalized" is never shown: the nonces of gasless
 * burns are public, and the moment of finality would point to the mint of that moment and so to the recipient.
 */
export type Phase = 'open' | 'expired' | 'accepted'

export { type ChallengeOffer, parseChallenge } from './offer.js'

export type VerifyResponse = {
  readonly isValid: boolean
  readonly invalidReason?: ReasonCode
  readonly invalidMessage?: string
  readonly payer?: string
}

export type SettleResponse = {
  readonly success: boolean
  readonly errorReason?: ReasonCode
  readonly errorMessage?: string
  readonly payer?: string
  /** Hash of the burn, or "" while there is none. Never the mint. */
  readonly transaction: string
  readonly network: Network
  readonly extra?: { readonly phase: Phase }
}

/** Answer of `GET /payments/{challengeNonce}`. No field links the burn to its recipient. */
export type PaymentStatus = {
  readonly challengeNonce: string
  readonly phase: Phase
  readonly amount: string
  readonly issuedAt: number
  readonly expiresAt: number
  readonly transaction?: string
  readonly acceptedAt?: number
}

/** A payment as the flow sees it: the parsed payload, and the untrusted requirements if the caller sent some. */
export type PresentedPayment = {
  readonly payload: Payload.Payload
  /** Absent for legacy direct bodies, which have no requirements. */
  readonly requirements?: JsonObject
  /** The offer's ticket as the caller sent it, untrusted: from the requirements, or from beside a legacy payload. */
  readonly ticket?: string
}

/** Reads `{ x402Version, paymentPayload, paymentRequirements }`. */
export function parsePaymentRequest(body: unknown): Result<PresentedPayment> {
  if (!isObject(body)) return reject('malformed_request', 'the body is not a JSON object')
  const { x402Version, paymentPayload, paymentRequirements } = body
  if (!isObject(paymentPayload)) return reject('malformed_request', 'paymentPayload: not an object')
  if (!isObject(paymentRequirements)) return reject('malformed_request', 'paymentRequirements: not an object')
  if (x402Version !== version || paymentPayload.x402Version !== version) return reject('invalid_x402_version')
  if (paymentRequirements.scheme !== scheme) return reject('unsupported_scheme')
  if (!isObject(paymentPayload.accepted)) return reject('malformed_payload', 'accepted: not an object')
  const payload = Payload.parse(paymentPayload.payload)
  if (!payload.ok) return payload
  const ticket = ticketOf(paymentRequirements.extra)
  return accept({ payload: payload.value, requirements: paymentRequirements, ...ticket })
}

/** Reads a `/settle` body in the official shape or the legacy direct shape. Both give the same result. */
export function parseSettleRequest(body: unknown): Result<PresentedPayment> {
  const isLegacy = isObject(body) && body.paymentPayload === undefined && body.challengeNonce !== undefined
  if (!isLegacy) return parsePaymentRequest(body)
  const payload = Payload.parse(body)
  return payload.ok ? accept({ payload: payload.value, ...ticketOf(body) }) : payload
}

const ticketOf = (holder: unknown): { ticket?: string } =>
  isObject(holder) && typeof holder.ticket === 'string' ? { ticket: holder.ticket } : {}
