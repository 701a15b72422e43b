/** The gate before a paid handler: the part that is the same for every framework. */
import { type Clock, Headers, SvcError } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import type { PaymentOption } from '@x402/core/http'
import { x402ResourceServer } from '@x402/core/server'
import type { Price, SettleResponse } from '@x402/core/types'
import type { ClientLimits } from '../limits.js'
import { type Terms, toTerms } from '../offers/terms.js'
import { isVerdict } from '../refusal.js'
import { type RouteSale, readPayment } from '../scheme/route-offer.js'
import type { SvcScheme } from '../scheme/scheme.js'
import type { AnswerStore } from '../served/answer-store.js'
import { answerKeyIn, createServed, type Presentation, type ServedAnswer, unkept } from '../served/served.js'
import { clientKey, createClientCounts } from '../visits/client-limits.js'
import { highestPrice, type Routed } from '../visits/priced-request.js'
import { type Visit, visits } from '../visits/visit.js'
import { type Answer, answersUnavailable, answerTo, owedElsewhere, refuse, underWay } from './answer.js'
import { forPerson, isForPerson, openPages, type PaywallOption } from './for-person.js'
import { PaidRoute } from './paid-route.js'
import { createReady } from './readiness.js'
import { createVerbJudge, type VerbTerms } from './verbs.js'

/** The official middleware shows `description` and `mimeType` once more, beside the offers. */
export type PaidSale = RouteSale &
  VerbTerms & {
    /** Entries of other schemes that are registered at the given `server`. */
    readonly alsoAccepts?: readonly PaymentOption[]
  }

export type GateOptions<Request> = {
  /**
   * Names the client that a request is counted for. Default: the remote address of the connection. Behind a proxy that
   * is the proxy's address, so read the client from a header that the proxy writes and no client can forge.
   */
  readonly client?: (request: Request) => string | undefined
  /** How often one client may ask; `unlimited` turns the limits off. */
  readonly clientLimits?: Partial<ClientLimits> | 'unlimited'
  /**
   * Where answers to accepted payments are kept for ten minutes, for payers whose connection broke. Default: in memory,
   * which a restart loses. `none` keeps nothing.
   */
  readonly answers?: AnswerStore | 'none'
  /** For several schemes: a resource server where this scheme is registered. Default: a new one. */
  readonly server?: x402ResourceServer
  /**
   * The page for people who open a paid route in a browser: how it looks, a provider of another page, or `none` for the
   * JSON that programs get. Default: our page.
   */
  readonly paywall?: PaywallOption
  readonly clock?: Clock
}

/** A request as the gate needs it. */
export type Arrival<Request> = Routed & {
  readonly request: Request
  readonly method: string
  /** Path and query: an answer is kept for this very target. */
  readonly target: string
  readonly header: (name: string) => string | undefined
  readonly handed?: unknown
}

/**
 * A request continues to the official middleware with its visit, continues for free, or is answered here. A visit ends
 * with its presentation: hand it the answer before that goes out.
 */
export type Admission =
  | { readonly visit: Visit; readonly presentation: Presentation }
  | { readonly answer: Answer }
  | { readonly kept: ServedAnswer }
  | 'free'

/** `admit` never rejects, because frameworks treat that in different ways. */
export type PaidGate<Request> = {
  readonly route: PaidRoute
  admit(arrival: Arrival<Request>): Promise<Admission>
}

export function createGate<Request>(
  svc: SvcScheme,
  { client = () => undefined, clientLimits = {}, clock = systemClock, ...options }: GateOptions<Request>,
): (sale: PaidSale) => PaidGate<Request> {
  const server = options.server ?? new x402ResourceServer(svc.facilitatorClient).register(svc.network, svc)
  if (server.getRegisteredScheme(svc.network, svc.scheme) !== svc) {
    throw new SvcError('scheme_not_registered', 'the given server does not know this scheme: register it')
  }
  const ready = createReady(server, svc, clock)
  const counts = createClientCounts(clientLimits, clock)
  const served = createServed(options.answers, clock)
  const pages = openPages(options.paywall, svc.offers.tokenLabel)

  function visitBy(
    key: string,
    { path, anyCase, params, handed }: Arrival<Request>,
    { presentation, owed }: { presentation: Presentation; owed?: SettleResponse },
  ): Admission {
    let isCounted = false
    const visit: Visit = {
      path,
      anyCase,
      params,
      handed,
      owed,
      noteAccepted: presentation.accept,
      takeOffer: () => counts.takeOffer(key),
      checkPayment(presented) {
        isCounted = counts.refused.check(key, presented)
      },
      noteRefused(presented, reason) {
        counts.refused.note(key, presented, reason)
        visit.hasNoVerdict = !isVerdict(reason)
      },
      mayResend: () => counts.mayResend(key),
    }
    const end: Presentation['end'] = (answer) => {
      if (isCounted && !visit.isAccepted && !visit.hasNoVerdict) counts.refused.noteUnaccepted(key)
      return presentation.end(answer)
    }
    return { visit, presentation: { ...presentation, end } }
  }

  /** The seal is checked before anything is counted for the client: it is cheap, and nobody can make it up. */
  async function enter(arrival: Arrival<Request>, terms: Terms): Promise<Admission> {
    const name = clientLimits === 'unlimited' ? '' : client(arrival.request)
    if (name === undefined) return { answer: clientUnknown }
    const key = clientKey(name)
    const { method, path, target } = arrival
    const payment = arrival.header(Headers.paymentSignature)
    const answerKey = payment === undefined ? answerKeyIn(arrival.header('cookie')) : undefined
    if (answerKey !== undefined) {
      // Anybody can make up an answer key, so asking the store for one is counted.
      counts.takeUnsealed(key)
      const kept = await served.find(answerKey, `${method} ${target}`)
      if (kept !== undefined) return { kept }
    }
    const presented = readPayment(payment)
    const unsealed = presented && svc.offers.unseal(presented, `${method} ${path}`, terms)
    if (payment === undefined || unsealed === undefined) {
      if (payment !== undefined) counts.takeUnsealed(key)
      return visitBy(key, arrival, { presentation: unkept })
    }
    const challengeNonce = String(unsealed.offer.extra.challengeNonce)
    counts.takeSealed(challengeNonce)
    const begun = await served.begin({ challengeNonce, payment, resource: `${method} ${target}` })
    if (begun === 'busy') return { answer: underWay }
    if (begun === 'owed_elsewhere') return { answer: owedElsewhere }
    if ('kept' in begun) return begun
    return visitBy(key, arrival, begun)
  }

  return ({ methods, free, alsoAccepts = [], ...sale }) => {
    const judge = createVerbJudge({ methods, free })
    const accepts = [svc.accept(sale), ...alsoAccepts.map(pricedAlike)]
    const route = new PaidRoute({ server, ready, accepts, pages, ...sale })
    const terms = toTerms(sale)
    return {
      route,
      async admit(arrival) {
        const verb = judge(arrival.method)
        if (verb === 'free') return verb
        const admission =
          verb === 'sold'
            ? await enter(arrival, terms).catch((error) => ({
                answer: answerTo(error) ?? answersUnavailable,
              }))
            : { answer: verb }
        return admission !== 'free' && 'answer' in admission && isForPerson(arrival.header)
          ? { answer: forPerson(admission.answer, pages) }
          : admission
      },
    }
  }
}

/** Entries of other schemes are priced by the same request as ours. */
function pricedAlike(entry: PaymentOption): PaymentOption {
  const { price } = entry
  if (typeof price !== 'function') return entry
  return { ...entry, price: (context) => highestPrice(context, visits.getStore(), price, amountOf) }
}

const amountOf = (price: Price) =>
  Number(typeof price === 'object' ? price.amount : `${price}`.replace('$', ''))

/** Refused, because clients that share one limit could use it up for each other. */
const clientUnknown = refuse(500, 'client_unknown', {
  error: 'The seller has not said how its clients are told apart.',
  action: 'Tell the seller: set `client`, or `clientLimits: "unlimited"`.',
})
