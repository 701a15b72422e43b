/**
 * A shop with a cheap and a dear route behind the official express middleware.
 *
 * FACILITATOR_URL, SHOP_TOKEN and SHOP_SECRET are required. SHOP_SECRET seals the offers: keep it stable and
 * share it among all instances of one shop, or payers who already burned are turned away after a restart.
 */
import type { AddressInfo } from 'node:net'
import { createSvcScheme } from '@svc-zerc20/resource-server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express, { type RequestHandler } from 'express'

const env = (name: string, fallback?: string): string => {
  const value = process.env[name] || fallback
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

const scheme = createSvcScheme({
  facilitatorUrl: env('FACILITATOR_URL'),
  network: env('SHOP_NETWORK', 'eip155:31337') as `eip155:${number}`,
  token: env('SHOP_TOKEN'),
  secret: env('SHOP_SECRET'),
})

/**
 * The middleware runs the handler after verify and before settle, and verify promises nothing: a payer can
 * empty its account in between. What costs the provider much to make therefore needs a limit of its own.
 */
function perCallerPerMinute(most: number): RequestHandler {
  const counts = new Map<string, number>()
  setInterval(() => counts.clear(), 60_000).unref()
  return (request, response, next) => {
    const caller = request.ip ?? ''
    const count = (counts.get(caller) ?? 0) + 1
    counts.set(caller, count)
    if (count <= most) return next()
    response.status(429).set('Retry-After', '60').json({ error: 'too many requests of a dear resource' })
  }
}

const app = express()
// A request and its paid repetition both count, so twice as many as purchases are let through.
app.use('/dear', perCallerPerMinute(2 * Number(env('SHOP_DEAR_PER_MINUTE', '30'))))
app.use(
  paymentMiddleware(
    {
      // With the verb: a bare path would issue a challenge for every OPTIONS and HEAD, too.
      'GET /cheap': {
        accepts: scheme.accept({ price: env('SHOP_CHEAP_PRICE', '1000') }),
        description: 'A thought',
        mimeType: 'application/json',
      },
      'GET /dear': {
        accepts: scheme.accept({ price: env('SHOP_DEAR_PRICE', '250000') }),
        description: 'A well considered thought',
        mimeType: 'application/json',
      },
    },
    new x402ResourceServer(scheme.facilitatorClient).register(scheme.network, scheme),
  ),
)
app.get('/cheap', (_request, response) => {
  response.json({ thought: 'Cash had one good property.' })
})
app.get('/dear', (_request, response) => {
  response.json({ thought: 'Nobody had to know who paid whom, and the merchant still got the money.' })
})

const server = app.listen(Number(env('SHOP_PORT', '0')), '127.0.0.1', (error) => {
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
