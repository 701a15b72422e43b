/** Answers that the gate gives in place of the resource. */
import { PAYMENT_REQUIRED_CACHE_CONTROL } from '@x402/core/server'
import { type FacilitatorFailure, isFacilitatorFailure } from '../facilitator/client.js'
import { noVerdictRetrySeconds, presentationLimits } from '../limits.js'
import { type Explanation, paymentOwed, paymentUnderWay, presentAgain } from '../refusal.js'
import { OverLimit } from '../visits/bucket.js'
import { RepeatedQuery } from '../visits/priced-request.js'

export type Answer = {
  readonly status: number
  readonly headers: Record<string, string>
  /** An explanation for programs, or a page for people. Absent for an answer without a body. */
  readonly body?: Explanation | string
  readonly isHtml?: true
}

export function refuse(
  status: number,
  reason: string,
  words: Omit<Explanation, 'reason'>,
  headers: Record<string, string> = {},
): Answer {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': PAYMENT_REQUIRED_CACHE_CONTROL,
      ...headers,
    },
    body: { reason, ...words },
  }
}

/** The answer to a request that ended in this error, or undefined for a bug of our own, which is thrown on. */
export function answerTo(error: unknown): Answer | undefined {
  if (error instanceof OverLimit) return tooMany(error)
  if (error instanceof RepeatedQuery) return repeatedQuery
  return isFacilitatorFailure(error) ? badGateway(error) : undefined
}

export function tooMany({ retryAfterSeconds, of }: OverLimit, refused?: Explanation): Answer {
  // A payment that was refused before the limit was reached keeps its own reason.
  return refuse(429, refused?.reason ?? 'too_many_requests', refused ?? wordsOf(of, retryAfterSeconds), {
    'retry-after': `${retryAfterSeconds}`,
  })
}

function wordsOf(of: OverLimit['of'], seconds: number): Omit<Explanation, 'reason'> {
  if (of === 'offers') {
    return {
      error: 'You have asked too often; there is no offer for you now.',
      action: `Ask again after ${seconds} s.`,
    }
  }
  return {
    error:
      of === 'payments'
        ? 'Too many payments came at once; nobody has looked at this one.'
        : 'Too many payments of yours were refused; nobody has looked at this one.',
    action: `Present the same payment again after ${seconds} s. Do not pay a second time.`,
  }
}

const repeatedQuery = refuse(400, 'repeated_query', {
  error: 'The price depends on the query, and the query has more than one value for a name.',
  action: 'Name each thing once.',
})

export const underWay = refuse(503, paymentUnderWay.reason, paymentUnderWay, {
  'retry-after': `${presentationLimits.retrySeconds}`,
})

export const owedElsewhere = refuse(503, paymentOwed.reason, paymentOwed, {
  'retry-after': `${noVerdictRetrySeconds}`,
})

export const answersUnavailable = refuse(
  503,
  'answers_unavailable',
  { error: 'The seller cannot tell whether this payment was answered before.', action: presentAgain },
  { 'retry-after': `${noVerdictRetrySeconds}` },
)

function badGateway({
  message,
  reason,
  retryAfterSeconds = noVerdictRetrySeconds,
}: FacilitatorFailure): Answer {
  return refuse(
    502,
    reason ?? 'facilitator_unavailable',
    {
      error: message,
      action: 'Send the same request again later. A payment that went with it is not lost: do not pay again.',
    },
    { 'retry-after': `${retryAfterSeconds}` },
  )
}
