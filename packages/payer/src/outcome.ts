/** The meaning of an answer to a presented payment. */
import { Headers, Json, type ReasonCode, reasons } from '@svc-zerc20/protocol'
import { type PayerErrorCode, payerErrors } from './payer-error.js'

/**
 * How a presented payment ended, and the error that says so where the resource did not come. The table of errors has what
 * follows from it: pending always means that the same payment is presented again; nothing new is signed while it can still
 * be taken.
 */
export const outcomes = {
  /** The resource came, and the seller says that the burn is confirmed. */
  accepted: undefined,
  /** The resource came without a receipt. */
  delivered: undefined,
  /** The resource began to come, and broke off. */
  half: 'answer_half',
  /** The resource came as a whole, and nobody has it yet. */
  kept: 'answer_kept',
  /** The same payload may succeed in a moment. */
  send_again: 'payment_pending',
  /** Another payment used the permit nonce; the same challenge may succeed with the next one. */
  sign_again: 'payment_refused',
  /** This payload will not succeed. */
  refused: 'payment_refused',
  /** The one answer that this payment buys was given before. */
  used: 'payment_used',
  /** The server answered something else and, by its own flow, did not take the payment. */
  unserved: 'payment_pending',
  /** The answer does not tell; the payment may or may not have gone through. */
  unknown: 'payment_pending',
} as const satisfies Record<string, PayerErrorCode | undefined>

export type Outcome = keyof typeof outcomes

/** How a request ended for its caller. `free`: nothing had to be paid. */
export type End = 'free' | 'paid' | 'pending' | 'failed'

/** How `svc-pay` exits at each end. */
export const exitAt = {
  free: 'ok',
  paid: 'ok',
  pending: 'pending',
  failed: 'failed',
} as const satisfies Record<End, string>

/** The end of a request for which nothing was signed. */
export const endUnpaid = (status: number): End => (status < 400 ? 'free' : 'failed')

export const endOf = (outcome: Outcome) => {
  const code = outcomes[outcome]
  if (code === undefined) return 'paid'
  const error = payerErrors[code]
  return 'exit' in error ? error.exit : 'failed'
}

export const isServed = (outcome: Outcome) => outcomes[outcome] === undefined

/** The parts of a settle response, or of the error of a fresh 402, that decide. */
export type Answer = {
  readonly settleResponse?:
    | { readonly success: boolean; readonly errorReason?: string; readonly transaction?: string }
    | undefined
  readonly paymentRequired?: { readonly error?: string } | undefined
  readonly status?: number
}

/** Statuses behind which a settle may still be running, and the 402 that lost its headers. */
const unclearStatuses = new Set([402, 502, 503, 504])

/**
 * A receipt is the seller's word. It makes an answer a delivery only where the resource is in it, or the way to the
 * resource: an error with a receipt would otherwise have the next try pay again.
 */
export function judgeAnswer(
  { settleResponse, paymentRequired, status }: Answer,
  { isComplete }: { readonly isComplete: boolean } = { isComplete: true },
): Outcome {
  const isReceipt = settleResponse?.success === true
  if (status !== undefined && status >= 200 && status < 300) {
    if (!isComplete) return 'half'
    return isReceipt ? 'accepted' : 'delivered'
  }
  // The hooks of the official clients are told no status.
  const mayServe = status === undefined || (status >= 300 && status < 400)
  if (isReceipt) return mayServe ? 'accepted' : 'unknown'
  if (settleResponse) return judgeReason(settleResponse.errorReason)
  if (paymentRequired) return judgeReason(paymentRequired.error)
  // The official middleware takes no payment when the handler fails, and says nothing about it.
  return status === undefined || unclearStatuses.has(status) ? 'unknown' : 'unserved'
}

/** The words of a refusal: one of our reasons, or what the seller said instead. */
export function refusalOf({ settleResponse, paymentRequired }: Answer): {
  readonly reason: ReasonCode | undefined
  readonly said: string
} {
  const said = settleResponse?.errorReason ?? paymentRequired?.error ?? ''
  const code = codeOf(said)
  return { reason: isReason(code) ? code : undefined, said }
}

// The middleware may append a message to the reason: `reason: message`.
const codeOf = (text: string | undefined) => text?.split(':', 1)[0] ?? ''
const isReason = (code: string): code is ReasonCode => Object.hasOwn(reasons, code)

/** Refusals after which the permit may be signed again, for the same challenge, once its nonce has moved on. */
const outrunReasons: ReadonlySet<string> = new Set<ReasonCode>([
  'permit_nonce_in_use',
  'permit_nonce_stale',
  'burn_failed',
])

function judgeReason(text: string | undefined): Outcome {
  const code = codeOf(text)
  if (!isReason(code)) return 'unknown'
  if (code === 'already_accepted') return 'used'
  if (outrunReasons.has(code)) return 'sign_again'
  switch (reasons[code].retry) {
    case 'same_payload':
      return 'send_again'
    case 'later':
      return 'unknown'
    case 'never':
    case 'fresh_offer':
      return 'refused'
  }
}

/** Reads the payment headers of a response. Headers that cannot be read count as absent. */
export function readAnswer(response: Pick<Response, 'status' | 'headers'>): Answer {
  const read = (name: string) => {
    const decoded = Headers.decode(response.headers.get(name))
    return decoded.ok && Json.isObject(decoded.value) ? decoded.value : undefined
  }
  const settle = read(Headers.paymentResponse)
  const required = response.status === 402 ? read(Headers.paymentRequired) : undefined
  return {
    status: response.status,
    settleResponse: settle && {
      success: settle.success === true,
      ...(typeof settle.errorReason === 'string' && { errorReason: settle.errorReason }),
      ...(typeof settle.transaction === 'string' && { transaction: settle.transaction }),
    },
    paymentRequired: required && { ...(typeof required.error === 'string' && { error: required.error }) },
  }
}
