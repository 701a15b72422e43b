/** The plugin's calls to the facilitator. A call without a verdict throws and is reported to the seller. */
import { type Clock, FacilitatorApi } from '@svc-zerc20/protocol'
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
import { type Fetch, isOf, openEndpoint, type Reply } from './endpoint.js'

export type Facilitator = {
  /** For `new x402ResourceServer(...)`. A call without a verdict throws FacilitatorResponseError. */
  readonly client: FacilitatorClient
  /** One `POST /challenge`; throws FacilitatorResponseError, which the middleware answers with 502. */
  challenge(amount: string): Promise<FacilitatorApi.ChallengeOffer>
  /** Whether `GET /payments/{challengeNonce}` gets any answer, even "unknown". Never throws. */
  answersFor(challengeNonce: string): Promise<boolean>
  /** Sends the same settle again with a timeout. Undefined when no verdict came. Never throws. */
  settleAgain(
    payload: PresentedPayload,
    requirements: PresentedRequirements,
    timeoutMs: number,
  ): Promise<SettleResponse | undefined>
}

/** A failure of the facilitator. The message never names the facilitator's address, so anybody may see it. */
export type FacilitatorFailure = FacilitatorResponseError & {
  /** The facilitator's own reason code, such as `issuance_paused`. */
  readonly reason?: string
  readonly retryAfterSeconds?: number
}

/** Called with every failure, for the seller's own log. */
export type OnProblem = (failure: FacilitatorFailure) => void

export type FacilitatorDeps = {
  readonly facilitatorUrl: string | readonly string[]
  readonly facilitatorToken?: string | undefined
  readonly fetch: Fetch
  readonly limits: Limits
  readonly clock: Clock
  readonly onProblem: OnProblem
}

export function createFacilitator(deps: FacilitatorDeps): Facilitator {
  const { limits, clock, onProblem, ...where } = deps
  const endpoint = openEndpoint({ ...where, limits, clock })
  const fail = (failure: FacilitatorFailure) => {
    onProblem(failure)
    return failure
  }
  /**
   * An overloaded facilitator has done nothing, and says when there is room again. A payment that was made is worth the
   * wait, as far as its time allows.
   */
  async function present(
    path: string,
    payload: PresentedPayload,
    requirements: PresentedRequirements,
    timeoutMs: number,
  ): Promise<Reply> {
    const body = {
      x402Version: payload.x402Version,
      paymentPayload: disclosePayload(payload),
      paymentRequirements: discloseRequirements(requirements),
    }
    const endsAtMs = clock.now() + timeoutMs
    for (;;) {
      const reply = await endpoint.post(path, body, Math.max(1, Math.floor(endsAtMs - clock.now())))
      const pauseMs = 1_000 * (reply.retryAfterSeconds ?? Number.POSITIVE_INFINITY)
      if (!isOf('overloaded', reply) || clock.now() + pauseMs >= endsAtMs) return reply
      await clock.sleep(pauseMs)
    }
  }
  /** Waits for the reply and parses it with `read`; throws when either fails. */
  let isAway = false
  async function ask<T>(operation: string, call: Promise<Reply>, read: (reply: Reply) => T | undefined) {
    const reply = await call.catch((cause) => {
      // Once an outage, and for the seller alone: what others are shown never names the address.
      if (!isAway) process.emitWarning(`the facilitator at ${endpoint.where} gives no answer; is it running?`)
      isAway = true
      throw fail(facilitatorFailure(`the facilitator gave no answer to ${operation}`, { cause }))
    })
    isAway = false
    const answer = read(reply)
    if (answer === undefined) throw fail(refusalIn(operation, reply))
    return answer
  }

  /** Verify changes nothing, so one that got no answer is sent again, within the time of one. */
  async function verifyUntilAnswered(payload: PresentedPayload, requirements: PresentedRequirements) {
    const endsAtMs = clock.now() + limits.verifyTimeoutMs
    const remainingMs = () => Math.floor(endsAtMs - clock.now())
    for (const pauseMs of limits.verifyPausesMs) {
      try {
        return await present('/verify', payload, requirements, remainingMs())
      } catch (error) {
        if (remainingMs() <= pauseMs) throw error
        await clock.sleep(pauseMs)
      }
    }
    return present('/verify', payload, requirements, Math.max(1, remainingMs()))
  }

  return {
    client: {
      getSupported: () =>
        ask('supported', endpoint.get('/supported', limits.verifyTimeoutMs), ({ status, body }) =>
          status === 200 ? readSupported(body) : undefined,
        ),
      // With status 429 or 5xx the facilitator reports its own trouble, so the body is no verdict on the payment.
      verify: (payload, requirements) =>
        ask('verify', verifyUntilAnswered(payload, requirements), (reply) =>
          reply.status < 429 ? readVerdict(reply.body) : undefined,
        ),
      settle: (payload, requirements) =>
        ask('settle', present('/settle', payload, requirements, limits.settleTimeoutMs), (reply) =>
          readSettlement(reply.body),
        ),
    },
    challenge: (amount) =>
      ask('challenge', endpoint.post('/challenge', { amount }, limits.challengeTimeoutMs), (reply) =>
        reply.status === 200 ? challengeIn(reply.body) : undefined,
      ),
    answersFor: (challengeNonce) =>
      endpoint.get(`/payments/${encodeURIComponent(challengeNonce)}`, limits.statusTimeoutMs).then(
        ({ status }) => status < 500,
        () => false,
      ),
    settleAgain: (payload, requirements, timeoutMs) =>
      present('/settle', payload, requirements, timeoutMs).then(
        ({ body }) => readSettlement(body),
        () => undefined,
      ),
  }
}

function challengeIn(body: unknown): FacilitatorApi.ChallengeOffer | undefined {
  const parsed = FacilitatorApi.parseChallenge(body)
  return parsed.ok ? parsed.value : undefined
}

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
 * The error for a call without a verdict. The payment's outcome is unknown then, and a 402 would invite the payer to
 * pay again, so the middleware answers this error with 502. The cause may name the facilitator's address; the message
 * never does.
 */
export function facilitatorFailure(
  message: string,
  details: { cause?: unknown; reason?: string; retryAfterSeconds?: number } = {},
): FacilitatorFailure {
  return Object.assign(new FacilitatorResponseError(message), details)
}

/** True for this error, even when it comes from another installed copy of the official core. */
export function isFacilitatorFailure(error: unknown): error is FacilitatorFailure {
  const names = ['FacilitatorResponseError', 'FacilitatorTimeoutError']
  return error instanceof Error && names.includes(error.name)
}

/** The negative verdict inside an error of the official server, or undefined when it has none. */
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
