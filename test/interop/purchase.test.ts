import { describePurchases } from './support/purchase-suite.js'
import { openExpressShop, openHonoShop } from './support/shops.js'

describePurchases('@x402/express', openExpressShop, ['/cheap', '/dear'])
describePurchases('@x402/hono', openHonoShop, ['/cheap', '/dear'])
