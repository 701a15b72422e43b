import { openNextShop } from './support/next-shop.js'
import { describePurchases } from './support/purchase-suite.js'

// `withX402` guards the cheap route, `paymentProxy` the dear one.
describePurchases('@x402/next', openNextShop, ['/cheap', '/dear'])
