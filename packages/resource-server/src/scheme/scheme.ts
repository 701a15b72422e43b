/** The x402 scheme plugin: everything a resource server needs to sell for svc-zerc20. */
import { type Clock, Network, Offer, parseAddress, SvcError } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import type { PaymentOption } from '@x402/core/http'
import type { FacilitatorClient, VerifyContext } from '@x402/core/server'
import type { SchemeNetworkServer } from '@x402/core/types'
import { createFacilitator, type OnProblem } from '../facilitator/client.js'
import type { Fetch } from '../facilitator/endpoint.js'
import { limits as defaultLimits, type Limits } from '../limits.js'
import { createOffers, type Offers } from '../offers/offers.js'
import { createSeal, type SealSecrets } from '../offers/seal.js'
import { createRefusedPayment } from './refused-payment.js'
import { createRequestOffers } from './request-offers.js'
import { createResettle } from './resettle.js'
import { createRouteOffer, notFromAccept, type RouteSale, withWholeOffer } from './route-offer.js'

export type SvcSchemeOptions = {
  /**
   * Base URL of the facilitator, or those of all its daemons: whichever of them is active is found and remembered. A text may
   * name several, with a comma between. Credentials in it travel as an Authorization header and are never printed.
   */
  readonly facilitatorUrl: string | readonly string[]
  /**
   * The token that identifies this seller to the facilitator. Sent as a bearer credential and never printed. With a
   * token the seller has its own rate limits; without one it shares those of its IP address.
   */
  readonly facilitatorToken?: string
  /** `eip155:<chainId>`; register the scheme under the same key. */
  readonly network: Network.Network
  /** Address of the token that the facilitator takes. */
  readonly token: string
  /** Signs offers. Keep it stable, the same for all instances of this service, and use it for nothing else. */
  readonly secret: SealSecrets
  readonly limits?: Partial<Limits>
  /** Called with every failure of the facilitator, for the seller's own log. */
  readonly onProblem?: OnProblem
  readonly fetch?: Fetch
  readonly clock?: Clock
}

export type SvcScheme = SchemeNetworkServer & {
  readonly network: Network.Network
  readonly token: string
  /** For `new x402ResourceServer(...)`: tells the facilitator nothing about the resource. */
  readonly facilitatorClient: FacilitatorClient
  /** For transports without an HTTP request context. */
  readonly offers: Offers
  /**
   * The `accepts` entry for a route table of the official middleware. Prefer `sellOnExpress`, `sellOnHono` or
   * `sellOnNext`: a route table matches verbs and paths itself, and every request that it fails to match is free.
   */
  accept(sale: RouteSale): PaymentOption
}

export function createSvcScheme(options: SvcSchemeOptions): SvcScheme {
  const { facilitatorUrl, network, token, fetch = globalThis.fetch, clock = systemClock } = options
  assertAllSet({ facilitatorUrl, network, token, secret: options.secret })
  if (Network.parseChainId(network) === undefined) {
    throw new SvcError('invalid_network', `network is ${network}: expected eip155:<chainId>`)
  }
  if (parseAddress(token) === undefined) {
    throw new SvcError('invalid_token', `token is ${token}: expected an address`)
  }
  const limits: Limits = { ...defaultLimits, ...options.limits }
  const { facilitatorToken, onProblem: report = () => {} } = options
  // A log of the seller that fails changes nothing for the payer.
  const onProblem: OnProblem = (failure) =>
    void Promise.resolve(failure)
      .then(report)
      .catch(() => {})
  const shared = { clock, onProblem }
  const facilitator = createFacilitator({ facilitatorUrl, facilitatorToken, fetch, limits, ...shared })
  const seal = createSeal(options.secret)
  const offers = createOffers({ network, token, facilitator, seal, ...shared })
  const resettle = createResettle({ facilitator, clock, limits })
  const requestOffers = createRequestOffers()
  const { onAfterVerify, enrichPaymentRequiredResponse } = createRefusedPayment(requestOffers)

  return {
    scheme: Offer.scheme,
    network,
    token,
    facilitatorClient: facilitator.client,
    offers,
    accept: (sale) => createRouteOffer({ network, offers, requestOffers }, sale),
    defaultAssetTransferMethod: 'default',
    paymentFlows: { default: { supported: ['authorization', 'upfront'], default: 'authorization' } },
    schemeHooks: { onBeforeVerify, onAfterVerify, onSettleFailure: resettle },
    enrichPaymentRequiredResponse,
    async parsePrice(price) {
      if (typeof price !== 'object') throw notFromAccept()
      return price
    },
    enhancePaymentRequirements: async (built) => withWholeOffer(built),
  }
}

/** A seller often passes variables of its environment unread: in a new terminal none of them is set. */
function assertAllSet(options: Readonly<Record<string, SealSecrets | readonly string[] | undefined>>): void {
  const unset = Object.keys(options).filter((name) => !options[name]?.length)
  // A secret that alone is missing has an error of its own.
  if (unset.every((name) => name === 'secret')) return
  throw new SvcError(
    'option_missing',
    `not set: ${unset.join(', ')}. Are the variables that they come from set?`,
  )
}

async function onBeforeVerify({ paymentPayload }: VerifyContext) {
  // The middleware matches a version 1 payload by scheme and network alone, which would bypass the sealed offer.
  if (paymentPayload.x402Version !== Offer.x402Version) {
    return { abort: true as const, reason: 'invalid_x402_version' }
  }
}
