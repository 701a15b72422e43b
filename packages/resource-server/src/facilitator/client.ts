/** What the plugin asks of the facilitator. A call that ends without a verdict throws, and is told to the seller. */
import { FacilitatorApi } from '@svc-zerc20/protocol'
import { type FacilitatorClient, FacilitatorResponseError } from '@x402/core/server'
import type { SettleResponse } from '@x402/core/types'
import type { Limits } from '../limits.js'
import { readProblem, readSettlement, readSupported, readVerdict } from './answers.js'
import {
  disclosePayload,
  discloseRequirements,
  type PresentedPayload,
  type PresentedRequirements,
} from './disclosure.js'
import { type Endpoint, type Fetch, openEndpoint, type Reply } from './endpoint.js'

export type Facilitator = {
  /** For `new x402ResourceServer(...)`. A call that ends without a verdict throws FacilitatorResponseError. */
  readonly client: FacilitatorClient
  /** One `POST /challenge`; throws FacilitatorResponseError, which the middleware answers with 502. */
  challenge(amount: string): Promise<FacilitatorApi.ChallengeOffer>
  /** Whether `GET /payments/{challengeNonce}` was answered, be it with "unknown". Never throws. */
  answersFor(challengeNonce: string): Promise<boolean>
  /** The same settle again within a time; undefined when it ends without a verdict. Never throws. */
  settleAgain(
    payload: PresentedPayload,
    requirements: PresentedRequirements,
    timeoutMs: number,
  ): Promise<SettleResponse | undefined>
}

/** A facilitator that did not do its part. The message may be shown to anybody: it names no address. */
export type FacilitatorFailure = FacilitatorResponseError & {
  /** The facilitator's own reason code, such as `issuance_paused`. */
  readonly reason?: string
  readonly retryAfterSeconds?: number
}

/** Told of every failure, for the seller's own log. */
export type OnProblem = (failure: FacilitatorFailure) => void

export type FacilitatorDeps = {
  readonly facilitatorUrl: string
  readonly facilitatorToken?: string | undefined
  readonly fetch: Fetch
  readonly limits: Limits
  readonly onProblem: OnProblem
}

export function createFacilitator({ limits, onProblem, ...where }: FacilitatorDeps): Facilitator {
  const endpoint = openEndpoint({ ...where, limits })
  const fail = (failure: FacilitatorFailure) => {
    onProblem(failure)
    return failure
  }
  /** The answer as `read` understands it. */
  async function ask<T>(operation: string, call: Promise<Reply>, read: (reply: Reply) => T | undefined) {
    const reply = await call.catch((cause) => {
      throw fail(facilitatorFailure(`the facilitator gave no answer to ${operation}`, { cause }))
    })
    const answer = read(reply)
    if (answer === undefined) throw fail(refusalIn(operation, reply))
    return answer
  }

  return {
    client: {
      getSupported: () =>
        ask('supported', endpoint.get('/supported', limits.verifyTimeoutMs), ({ status, body }) =>
          status === 200 ? readSupported(body) : undefined,
        ),
      // A verdict that comes with 429 or 5xx is about the facilitator, not about the payment.
      verify: (payload, requirements) =>
        ask('verify', present(endpoint, '/verify', payload, requirements, limits.verifyTimeoutMs), (reply) =>
          reply.status < 429 ? readVerdict(reply.body) : undefined,
        ),
      settle: (payload, requirements) =>
        ask('settle', present(endpoint, '/settle', payload, requirements, limits.settleTimeoutMs), (reply) =>
          readSettlement(reply.body),
        ),
    },
    challenge: (amount) =>
      ask('challenge', endpoint.post('/challenge', { amount }, limits.challengeTimeoutMs), (reply) =>
        reply.status === 200 ? FacilitatorApi.challengeOfferSchema.safeParse(reply.body).data : undefined,
      ),
    answersFor: (challengeNonce) =>
      endpoint.get(`/payments/${encodeURIComponent(challengeNonce)}`, limits.statusTimeoutMs).then(
        ({ status }) => status < 500,
        () => false,
      ),
    settleAgain: (payload, requirements, timeoutMs) =>
      present(endpoint, '/settle', payload, requirements, timeoutMs).then(
        ({ body }) => readSettlement(body),
        () => undefined,
      ),
  }
}

const present = (
  endpoint: Endpoint,
  path: string,
  payload: PresentedPayload,
  requirements: PresentedRequirements,
  timeoutMs: number,
) =>
  endpoint.post(
    path,
    {
      x402Version: payload.x402Version,
      paymentPayload: disclosePayload(payload),
      paymentRequirements: discloseRequirements(requirements),
    },
    timeoutMs,
  )

function refusalIn(operation: string, { status, body, retryAfterSeconds }: Reply): FacilitatorFailure {
  const verdict = readVerdict(body)
  const { error = verdict?.invalidMessage, reason = verdict?.invalidReason } = readProblem(body)
  const what =
    status === 200 ? `gave no proper answer to ${operation}` : `refused ${operation} with ${status}`
  const why = [reason, error].filter((text) => text !== undefined).join(': ')
  return facilitatorFailure(`the facilitator ${what}${why && ` (${why})`}`, {
    ...(reason !== undefined && { reason }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}

/**
 * Without a verdict the payment's outcome is unknown. A 402 would invite the payer to pay again, so this is the
 * error that the middleware answers with 502. A cause may name the facilitator's address; the message never does.
 */
export function facilitatorFailure(
  message: string,
  details: { cause?: unknown; reason?: string; retryAfterSeconds?: number } = {},
): FacilitatorFailure {
  return Object.assign(new FacilitatorResponseError(message), details)
}

/** True for such an error of whatever copy of the official core. */
export function isFacilitatorFailure(error: unknown): error is FacilitatorFailure {
  const names = ['FacilitatorResponseError', 'FacilitatorTimeoutError']
  return error instanceof Error && names.includes(error.name)
}

/** The negative verdict inside an error of the official server, or undefined when it carries none. */
export function refusalOf(error: unknown): SettleResponse | undefined {
  if (!(error instanceof Error) || error.name !== 'SettleError') return undefined
  const { errorReason, errorMessage, transaction, network } = error as Error & Partial<SettleResponse>
  if (errorReason === undefined || network === undefined) return undefined
  return {
    success: false,
    errorReason,
    ...(errorMessage !== undefined && { errorMessage }),
    transaction: transaction ?? '',
    network,
  }
}
