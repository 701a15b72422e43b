import { paymentProxy } from '@x402/next'
import { scheme, server } from './shop.js'

// Without a verb: Next hands HEAD to the handler of GET, past a route that names GET.
export const proxy = paymentProxy({ '/dear': { accepts: scheme.accept({ price: '250000' }) } }, server)

export const config = { matcher: '/dear' }
