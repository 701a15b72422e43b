/** Calls the facilitator: the official client for verify and settle, our own requests for the rest. */
import { FacilitatorApi, SvcError } from '@svc-zerc20/protocol'
import { type FacilitatorClient, FacilitatorResponseError, HTTPFacilitatorClient } from '@x402/core/server'
import type { SettleResponse } from '@x402/core/types'
import {
  disclosePayload,
  discloseRequirements,
  type PresentedPayload,
  type PresentedRequirements,
} from './disclosure.js'
import type { Limits } from './limits.js'

export type Fetch = typeof globalThis.fetch

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

export type FacilitatorDeps = {
  readonly facilitatorUrl: string
  readonly fetch: Fetch
  readonly limits: Limits
}

export function createFacilitator({ facilitatorUrl, fetch, limits }: FacilitatorDeps): Facilitator {
  const { url, headers } = parseEndpoint(facilitatorUrl)
  const official = (timeoutMs: number) =>
    new HTTPFacilitatorClient({
      url,
      timeoutMs,
      createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
    })
  const verifier = official(limits.verifyTimeoutMs)
  const settler = official(limits.settleTimeoutMs)

  return {
    client: {
      getSupported: () => verifier.getSupported(),
      verify: (payload, requirements) =>
        verdict('verify', verifier.verify(disclosePayload(payload), discloseRequirements(requirements))),
      settle: (payload, requirements) =>
        verdict('settle', settler.settle(disclosePayload(payload), discloseRequirements(requirements))),
    },
    async challenge(amount) {
      const signal = AbortSignal.timeout(limits.challengeTimeoutMs)
      const response = await fetch(`${url}/challenge`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ amount }),
        redirect: 'error',
        signal,
      }).catch((cause) => Promise.reject(unanswered('challenge', cause)))
      if (!response.ok) throw unanswered('challenge', undefined, `refused with ${response.status}`)
      const body: unknown = await response
        .json()
        .catch((cause) => Promise.reject(unanswered('challenge', cause)))
      const parsed = FacilitatorApi.challengeOfferSchema.safeParse(body)
      if (!parsed.success) throw unanswered('challenge', parsed.error, 'answered with no challenge')
      return parsed.data
    },
    async answersFor(challengeNonce) {
      const signal = AbortSignal.timeout(limits.statusTimeoutMs)
      const path = `${url}/payments/${encodeURIComponent(challengeNonce)}`
      return fetch(path, { headers, redirect: 'error', signal }).then(
        ({ status }) => status < 500,
        () => false,
      )
    },
    async settleAgain(payload, requirements, timeoutMs) {
      try {
        return await official(timeoutMs).settle(disclosePayload(payload), discloseRequirements(requirements))
      } catch (error) {
        return refusalOf(error)
      }
    },
  }
}

/** The negative verdict inside an error of the official client, or undefined when it carries none. */
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

// Without a verdict the payment's outcome is unknown. A 402 would invite the payer to pay again, so these
// become the error that the middleware answers with 502.
async function verdict<T>(operation: string, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (error instanceof FacilitatorResponseError) throw error
    if (error instanceof Error && (error.name === 'VerifyError' || error.name === 'SettleError')) throw error
    throw unanswered(operation, error)
  }
}

function unanswered(operation: string, cause: unknown, what = 'gave no answer'): FacilitatorResponseError {
  // The cause may name the facilitator's address; the message goes to the payer and must not.
  return Object.assign(new FacilitatorResponseError(`the facilitator ${what} to ${operation}`), { cause })
}

/** Takes credentials out of the URL: fetch refuses such URLs and prints them in its message. */
function parseEndpoint(text: string): { url: string; headers: Record<string, string> } {
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.search + parsed.hash !== '') {
    throw new SvcError('invalid_facilitator_url', 'facilitatorUrl must be a plain http or https URL')
  }
  const url = `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
  if (parsed.username === '' && parsed.password === '') return { url, headers: {} }
  const credentials = `${decodeURIComponent(parsed.username)}:${decodeURIComponent(parsed.password)}`
  return { url, headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } }
}
