import { paymentProxy } from '@x402/next'
import { scheme, server } from './shop.js'

// The route has no verb: Next passes HEAD to the handler of GET, which would bypass a route for GET only.
export const proxy = paymentProxy({ '/dear': { accepts: scheme.accept({ price: '250000' }) } }, server)

export const config = { matcher: '/dear' }
