/**
 * A shop with a cheap and an expensive route, sold through the official express middleware.
 *
 * FACILITATOR_URL, SHOP_TOKEN and SHOP_SECRET are required. SHOP_SECRET seals the offers: keep it stable and
 * share it among all instances of one shop, or payers who already burned are turned away after a restart.
 * FACILITATOR_URL may name several daemons of one facilitator, with commas between. FACILITATOR_TOKEN is the credential of a
 * shop that the facilitator knows.
 */
import type { AddressInfo } from 'node:net'
import { createSvcScheme, sellOnExpress } from '@svc-zerc20/resource-server'
import { paymentMiddlewareFromHTTPServer } from '@x402/express'
import express from 'express'

const env = (name: string, fallback?: string): string => {
  const value = process.env[name] || fallback
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

const { FACILITATOR_TOKEN: facilitatorToken } = process.env
const scheme = createSvcScheme({
  facilitatorUrl: env('FACILITATOR_URL'),
  ...(facilitatorToken && { facilitatorToken }),
  network: env('SHOP_NETWORK', 'eip155:31337') as `eip155:${number}`,
  token: env('SHOP_TOKEN'),
  secret: env('SHOP_SECRET'),
  onProblem: ({ message }) => process.stderr.write(`${message}\n`),
})

// Offers a minute for each client. Requests that carry a payment are not counted.
const unpaidPerMinute = Number(env('SHOP_UNPAID_PER_MINUTE', '10'))
const paid = sellOnExpress(scheme, paymentMiddlewareFromHTTPServer, {
  clientLimits: { unpaidPerMinute },
  // For people in a browser: who sells, and prices in tokens instead of base units.
  paywall: { name: 'Thoughts for sale', token: { symbol: 'zUSD', decimals: 6 } },
})

const app = express()
app.get(
  '/cheap',
  paid({
    price: env('SHOP_CHEAP_PRICE', '1000'),
    description: 'A thought',
    mimeType: 'application/json',
  }),
  (_request, response) => {
    response.json({ thought: 'Cash had one good property.' })
  },
)
app.get(
  '/dear',
  paid({
    price: env('SHOP_DEAR_PRICE', '250000'),
    description: 'A well considered thought',
    mimeType: 'application/json',
  }),
  (_request, response) => {
    response.json({ thought: 'Nobody had to know who paid whom, and the merchant still got the money.' })
  },
)

const server = app.listen(Number(env('SHOP_PORT', '4021')), '127.0.0.1', (error) => {
  if (error) throw error
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ ready: true, url: `http://127.0.0.1:${port}` })}\n`)
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    server.close(() => process.exit(0))
    server.closeIdleConnections()
  })
}
