/** What the answer to a presented payment means for it. */
import { Headers, Json, type ReasonCode, reasons } from '@svc-zerc20/protocol'

/**
 * - `accepted`: the burn is confirmed
 * - `delivered`: the resource came without a receipt
 * - `send_again`: the same payload may succeed later
 * - `refused`: this payload will not succeed
 * - `unserved`: the server answered something else and, by its own flow, did not take the payment
 * - `unknown`: the answer does not tell; the payment may or may not have gone through
 */
export type Outcome = 'accepted' | 'delivered' | 'send_again' | 'refused' | 'unserved' | 'unknown'

/** The parts of a settle response, or of the error of a fresh 402, that decide. */
export type Answer = {
  readonly settleResponse?: { readonly success: boolean; readonly errorReason?: string } | undefined
  readonly paymentRequired?: { readonly error?: string } | undefined
  readonly status?: number
}

/** Answers behind which a settle may still be running, and a 402 that lost its headers. */
const unclearStatuses = new Set([402, 502, 503, 504])

export function judgeAnswer({ settleResponse, paymentRequired, status }: Answer): Outcome {
  if (settleResponse?.success) return 'accepted'
  if (settleResponse) return judgeReason(settleResponse.errorReason)
  if (paymentRequired) return judgeReason(paymentRequired.error)
  if (status === undefined || unclearStatuses.has(status)) return 'unknown'
  // The official middleware takes no payment when the handler fails, and says nothing about it.
  return status >= 200 && status < 300 ? 'delivered' : 'unserved'
}

/** Whether the one answer this payment buys was given before. */
export function wasUsed({ settleResponse, paymentRequired }: Answer): boolean {
  return codeOf(settleResponse?.errorReason ?? paymentRequired?.error) === 'already_accepted'
}

// The middleware may append a message to the reason: `reason: message`.
const codeOf = (text: string | undefined) => text?.split(':', 1)[0] ?? ''

function judgeReason(text: string | undefined): Outcome {
  const code = codeOf(text)
  if (!Object.hasOwn(reasons, code)) return 'unknown'
  switch (reasons[code as ReasonCode].retry) {
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
    },
    paymentRequired: required && { ...(typeof required.error === 'string' && { error: required.error }) },
  }
}
