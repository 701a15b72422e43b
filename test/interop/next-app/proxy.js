import { paymentProxy } from '@x402/next'
import { scheme, server } from './shop.js'

export const proxy = paymentProxy({ 'GET /dear': { accepts: scheme.accept({ price: '250000' }) } }, server)

export const config = { matcher: '/dear' }
