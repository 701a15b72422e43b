/**
 * One paid route as the official middleware of each framework sees it. The route stands directly before its handler,
 * so it matches no paths and no verbs: every request that reaches it needs a payment. A request passes only with a
 * payment that was verified for it.
 */
import { Headers, Json, Offer, SvcError } from '@svc-zerc20/protocol'
import type { PaymentOption } from '@x402/core/http'
import {
  type HTTPProcessResult,
  type HTTPResponseInstructions,
  type RouteConfig,
  x402HTTPResourceServer,
  type x402ResourceServer,
} from '@x402/core/server'
import type { PaymentPayload, SettleResponse } from '@x402/core/types'
import { isFacilitatorFailure } from '../facilitator/client.js'
import { type Explanation, explain } from '../refusal.js'
import { readPayment } from '../scheme/route-offer.js'
import { OverLimit } from '../visits/bucket.js'
import { type Visit, visits } from '../visits/visit.js'
import { answerTo, tooMany } from './answer.js'
import { forPerson, isForPerson, type Pages } from './for-person.js'
import type { Ready } from './readiness.js'

export type PaidRouteDeps = {
  readonly server: x402ResourceServer
  readonly ready: Ready
  readonly accepts: PaymentOption[]
  readonly pages: Pages | undefined
  readonly description?: string
  readonly mimeType?: string
}

type Process = Parameters<x402HTTPResourceServer['processHTTPRequest']>
type Settlement = Parameters<x402HTTPResourceServer['processSettlement']>

export class PaidRoute extends x402HTTPResourceServer {
  readonly #server: x402ResourceServer
  readonly #ready: Ready
  readonly #pages: Pages | undefined

  constructor(deps: PaidRouteDeps) {
    super(deps.server, routeOf(deps))
    this.#server = deps.server
    this.#ready = deps.ready
    this.#pages = deps.pages
    // Our pages are made from the finished answer; the official one would be made for nothing.
    this.registerPaywallProvider({ generateHtml: () => '' })
  }

  /** Nothing waits for it: a request that needs the facilitator asks itself, and what is owed needs none. */
  override async initialize(): Promise<void> {
    void this.#ready().catch(() => {})
  }

  override requiresPayment(): boolean {
    return true
  }

  override async processHTTPRequest(...[context, paywall]: Process): Promise<HTTPProcessResult> {
    const visit = visits.getStore()
    if (visit === undefined)
      throw new SvcError('not_visited', 'a paid route is reached through its gate only')
    if (visit.owed !== undefined) return this.#runAgain(context, visit.owed, visit)
    try {
      await this.#ready()
      const result = await super.processHTTPRequest(withoutJunk(context), paywall)
      if (result.type === 'payment-verified') return result
      // No routes and no extensions are declared, so no other result should occur. If one does, the request is refused.
      if (result.type !== 'payment-error')
        throw new SvcError('unpaid', 'a paid route was passed without payment')
      return { ...result, response: this.#inWords(context, speak(result.response, visit)) }
    } catch (error) {
      const answer = answerTo(error)
      if (answer === undefined) throw error
      visit.hasNoVerdict ||= isFacilitatorFailure(error)
      return { type: 'payment-error', response: this.#inWords(context, answer) }
    }
  }

  /** What was paid for is delivered, whatever the price and the facilitator are now. */
  #runAgain(context: Process[0], owed: SettleResponse, visit: Visit): HTTPProcessResult {
    visit.isAccepted = true
    const header = context.adapter.getHeader(Headers.paymentSignature)
    const paymentPayload = readPayment(header) as unknown as PaymentPayload
    const { accepted: paymentRequirements } = paymentPayload
    return {
      type: 'payment-verified',
      cancellationDispatcher: this.#server.createPaymentCancellationDispatcher(
        paymentPayload,
        paymentRequirements,
        undefined,
        { request: context },
        ['before-handler'],
      ),
      beforeHandlerSettlement: {
        phase: 'before-handler',
        flow: 'upfront',
        result: owed,
        requirements: paymentRequirements,
      },
      paymentPayload,
      paymentRequirements,
    }
  }

  #inWords({ adapter }: Process[0], answer: HTTPResponseInstructions): HTTPResponseInstructions {
    return isForPerson((name) => adapter.getHeader(name)) ? forPerson(answer, this.#pages) : answer
  }

  /** A failed settle replaces the handler's answer, so everything the handler wrote must be removed. */
  override async processSettlement(...args: Settlement) {
    let isPaid = false
    try {
      const result = await this.#settle(...args)
      isPaid = result.success
      const visit = visits.getStore()
      if (visit === undefined || !result.success) return result
      visit.isAccepted = true
      const [, , , , , , phase] = args
      if (phase === 'before-handler') {
        const { headers: _, requirements: __, ...receipt } = result
        await visit.noteAccepted(receipt)
      }
      return result
    } finally {
      if (!isPaid) visits.getStore()?.takeBack?.()
    }
  }

  async #settle(...args: Settlement) {
    try {
      return await super.processSettlement(...args)
    } catch (error) {
      const response = answerTo(error)
      if (typeof response?.body !== 'object') throw error
      const visit = visits.getStore()
      if (visit !== undefined) visit.hasNoVerdict ||= isFacilitatorFailure(error)
      const { network } = args[1]
      const { reason: errorReason, error: errorMessage } = response.body
      return {
        success: false,
        errorReason,
        errorMessage,
        transaction: '',
        network,
        headers: {},
        response,
      } as const
    }
  }
}

/**
 * A header that is no payment counts as none. The official server writes a stack trace to the log for it, so strangers
 * could fill the seller's disk.
 */
function withoutJunk(context: Process[0]): Process[0] {
  const { adapter } = context
  if (readPayment(adapter.getHeader(Headers.paymentSignature)) !== undefined) return context
  const isPayment = (name: string) => name.toLowerCase() === Headers.paymentSignature.toLowerCase()
  const getHeader = (name: string) => (isPayment(name) ? undefined : adapter.getHeader(name))
  const { paymentHeader: _, ...rest } = context
  return { ...rest, adapter: Object.create(adapter, { getHeader: { value: getHeader } }) }
}

function routeOf({ accepts, description, mimeType }: PaidRouteDeps): RouteConfig {
  return {
    accepts,
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mimeType }),
    settlementFailedResponseBody: (_, { errorReason, errorMessage, transaction }) => {
      const message = errorMessage === errorReason ? undefined : errorMessage
      return { contentType: 'application/json', body: explain({ reason: errorReason, message, transaction }) }
    },
  }
}

/** Adds words to the 402 and removes entries that nobody can pay. */
function speak(response: HTTPResponseInstructions, visit: Visit): HTTPResponseInstructions {
  const { 'PAYMENT-REQUIRED': header, ...headers } = response.headers
  const decoded = Headers.decode(header)
  if (!decoded.ok || !Json.isObject(decoded.value) || !Array.isArray(decoded.value.accepts)) return response
  const required = decoded.value
  const payable = decoded.value.accepts.filter((entry) => !isDead(entry))
  const body = wordsFor(required.error, visit)
  if (payable.length > 0) {
    const shown = payable.length === decoded.value.accepts.length ? header : undefined
    const payment = shown ?? Headers.encode({ ...required, accepts: payable })
    return {
      status: response.status,
      headers: { ...headers, 'Content-Type': 'application/json', 'PAYMENT-REQUIRED': payment },
      body,
    }
  }
  const { offerFailure, refusal } = visit
  if (offerFailure instanceof OverLimit) return tooMany(offerFailure, refusal && body)
  const failed = refusal === undefined ? answerTo(offerFailure) : undefined
  if (failed !== undefined) return failed
  return { status: response.status, headers: { ...headers, 'Content-Type': 'application/json' }, body }
}

const isDead = (entry: unknown) =>
  Json.isObject(entry) &&
  entry.scheme === Offer.scheme &&
  Json.isObject(entry.extra) &&
  entry.extra.expiresAt === 0

const noMatch = 'No matching payment requirements'

/** Our words for two texts of the official middleware: no payment came, or one came for something else. */
const officialWords: Record<string, Explanation> = {
  'Payment required': {
    reason: 'payment_required',
    error: 'This resource is sold.',
    action: 'Pay an offer of the PAYMENT-REQUIRED header and repeat the request with PAYMENT-SIGNATURE.',
  },
  [noMatch]: {
    reason: 'offer_mismatch',
    error: 'The payment is for no offer of this resource at its present price, or the offer was changed.',
    action:
      'Make a new payment for the offer of this answer. If tokens were burned for the old one, ask the seller about them first.',
  },
}

function wordsFor(error: unknown, { refusal }: Visit): Explanation {
  if (refusal !== undefined) return explain(refusal)
  const text = typeof error === 'string' ? error : 'refused'
  return officialWords[text] ?? explain({ reason: text.split(':', 1)[0] ?? text, message: text })
}
