/** The gate before a paid handler: the part that is the same for every framework. */
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import type { PaymentOption } from '@x402/core/http'
import { x402ResourceServer } from '@x402/core/server'
import type { ClientLimits } from '../limits.js'
import type { StandardFields } from '../offers/terms.js'
import type { RouteSale } from '../scheme/route-offer.js'
import type { SvcScheme } from '../scheme/scheme.js'
import { clientKey } from '../visits/client-key.js'
import { createClientCounts } from '../visits/client-limits.js'
import type { Visit } from '../visits/visit.js'
import { type Answer, refuse } from './answer.js'
import { PaidRoute } from './paid-route.js'
import { createReady } from './readiness.js'
import { createVerbJudge, type VerbTerms } from './verbs.js'

export type PaidSale = Pick<RouteSale, 'price' | 'upfront' | 'extra' | 'description' | 'mimeType'> &
  VerbTerms & {
    /** Standard fields to repeat inside the offer. Official v2 shows description and type once, beside the offers. */
    readonly inOffer?: StandardFields
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
  /** For several schemes: a resource server where this scheme is registered. Default: a new one. */
  readonly server?: x402ResourceServer
  readonly clock?: Clock
}

/** A request as the gate needs it. */
export type Arrival<Request> = {
  readonly request: Request
  readonly method: string
  readonly path: string
  readonly handed?: unknown
}

/** A request continues to the official middleware with its visit, continues for free, or is answered here. */
export type Admission = { readonly visit: Visit } | { readonly answer: Answer } | 'free'

export type PaidGate<Request> = { readonly route: PaidRoute; admit(arrival: Arrival<Request>): Admission }

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

  function visitOf({ request, path, handed }: Arrival<Request>): Visit | undefined {
    const name = clientLimits === 'unlimited' ? '' : client(request)
    if (name === undefined) return undefined
    const key = clientKey(name)
    return {
      path,
      handed,
      takeOffer: () => counts.takeOffer(key),
      takePresentation: () => counts.takePresentation(key),
      checkPayment: (presented) => counts.refused.check(key, presented),
      noteRefused: (presented, reason) => counts.refused.note(key, presented, reason),
      mayResend: () => counts.mayResend(key),
    }
  }

  return ({ methods, free, alsoAccepts = [], inOffer, description, mimeType, ...sale }) => {
    const judge = createVerbJudge({ methods, free })
    const accepts = [svc.accept({ ...sale, ...inOffer }), ...alsoAccepts]
    const route = new PaidRoute({ server, ready, accepts, description, mimeType })
    return {
      route,
      admit(arrival) {
        const verb = judge(arrival.method)
        if (verb === 'free') return verb
        if (verb !== 'sold') return { answer: verb }
        const visit = visitOf(arrival)
        return visit === undefined ? { answer: clientUnknown } : { visit }
      },
    }
  }
}

/** Refused, because clients that share one limit could use it up for each other. */
const clientUnknown = refuse(500, 'client_unknown', {
  error: 'The seller has not said how its clients are told apart.',
  action: 'Tell the seller: set `client`, or `clientLimits: "unlimited"`.',
})
