import { createSvcScheme, sellOnNext } from '@svc-zerc20/resource-server'
import { withX402FromHTTPServer, x402ResourceServer } from '@x402/next'

const { FACILITATOR_URL, SHOP_TOKEN, SHOP_SECRET } = process.env

export const scheme = createSvcScheme({
  facilitatorUrl: FACILITATOR_URL,
  network: 'eip155:31337',
  token: SHOP_TOKEN,
  secret: SHOP_SECRET,
})
export const server = new x402ResourceServer(scheme.facilitatorClient).register(scheme.network, scheme)

// The client is named as the guide for sellers does it. The tests ask more often than one client may.
export const paid = sellOnNext(scheme, withX402FromHTTPServer, {
  client: (request) =>
    process.env.NODE_ENV === 'development' ? 'developer' : (request.headers.get('x-real-ip') ?? undefined),
  clientLimits: { unpaidPerMinute: 1_000_000 },
})

/** Counts the runs of every handler, whichever bundle it is in. */
export const countServed = () => {
  globalThis.svcServed = (globalThis.svcServed ?? 0) + 1
}
