/** The meaning of an answer to a presented payment. */
import { Headers, Json, type ReasonCode, reasons } from '@svc-zerc20/protocol'

/**
 * - `accepted`: the burn is confirmed
 * - `delivered`: the resource came without a receipt
 * - `send_again`: the same payload may succeed later
 * - `sign_again`: another payment used the permit nonce; the same challenge may succeed with the next one
 * - `refused`: this payload will not succeed
 * - `unserved`: the server answered something else and, by its own flow, did not take the payment
 * - `unknown`: the answer does not tell; the payment may or may not have gone through
 */
export type Outcome =
  | 'accepted'
  | 'delivered'
  | 'send_again'
  | 'sign_again'
  | 'refused'
  | 'unserved'
  | 'unknown'

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

export function judgeAnswer({ settleResponse, paymentRequired, status }: Answer): Outcome {
  if (settleResponse?.success) return 'accepted'
  if (settleResponse) return judgeReason(settleResponse.errorReason)
  if (paymentRequired) return judgeReason(paymentRequired.error)
  if (status === undefined || unclearStatuses.has(status)) return 'unknown'
  // The official middleware takes no payment when the handler fails, and says nothing about it.
  return status >= 200 && status < 300 ? 'delivered' : 'unserved'
}

/** Whether the one answer that this payment buys was given before. */
export function wasUsed({ settleResponse, paymentRequired }: Answer): boolean {
  return codeOf(settleResponse?.errorReason ?? paymentRequired?.error) === 'already_accepted'
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

/** Refusals after which the permit may be signed anew, for the same challenge, once its nonce has moved on. */
const outrunReasons: ReadonlySet<string> = new Set<ReasonCode>([
  'permit_nonce_in_use',
  'permit_nonce_stale',
  'burn_failed',
])

function judgeReason(text: string | undefined): Outcome {
  const code = codeOf(text)
  if (!isReason(code)) return 'unknown'
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
