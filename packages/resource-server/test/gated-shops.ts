/** Real express and hono servers that sell the same handlers in every way in which a framework can route to them. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import * as express402 from '@x402/express'
import * as hono402 from '@x402/hono'
import express, { type RequestHandler } from 'express'
import { type Context, Hono, type Next } from 'hono'
import { type GateOptions, type PaidSale, type SvcScheme, sellOnExpress, sellOnHono } from '../src/index.js'

export type GatedShop = {
  readonly url: string
  /** How often a handler ran. */
  served(): number
  close(): Promise<void>
}
export type OpenGatedShop = (
  svc: SvcScheme,
  sale?: Partial<PaidSale>,
  options?: GateOptions<never>,
) => Promise<GatedShop>

const location = 'https://files.example/signed?token=secret'

export const openExpress: OpenGatedShop = async (svc, terms = {}, options = {}) => {
  const sell = sellOnExpress(svc, express402.paymentMiddlewareFromHTTPServer, options as object)
  const sale = { price: '100', ...terms }
  let served = 0
  const handler: RequestHandler = (request, response) => {
    served += 1
    response.set({ location, etag: '"secret"' }).json({ bought: request.originalUrl })
  }
  const overriding: RequestHandler = (request, _response, next) => {
    const override = request.header('x-http-method-override') ?? request.query._method
    if (request.method === 'POST' && typeof override === 'string') request.method = override.toUpperCase()
    next()
  }
  const app = express()
  app.get('/get', sell(sale), handler)
  app.all('/all', sell(sale), handler)
  app.use('/use', sell(sale), handler)
  app.use('/api', express.Router().get('/get', sell(sale), handler))
  app.use('/before', overriding, express.Router().get('/', sell(sale), handler))
  app.use('/after', sell(sale), overriding, express.Router().get('/', handler))
  app.get('/by/:id', sell(sale), handler)
  const listening = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => listening.once('listening', resolve))
  return opened(listening, () => served)
}

export const openHono: OpenGatedShop = async (svc, terms = {}, options = {}) => {
  const sell = sellOnHono(svc, hono402.paymentMiddlewareFromHTTPServer, options as object)
  const sale = { price: '100', ...terms }
  let served = 0
  const app = new Hono()
  const overridden = new Hono()
  const overriding = async (context: Context, next: Next) => {
    const { req, env } = context
    const method = req.header('x-http-method-override') ?? req.query('_method')
    if (req.method !== 'POST' || method === undefined) return next()
    return overridden.fetch(new Request(req.url, { method, headers: req.raw.headers }), env)
  }
  app.use('/before', overriding)
  const sold = (path: string) =>
    [
      sell(sale),
      (context: { json(body: object, status: 200, headers: Record<string, string>): Response }) => {
        served += 1
        return context.json({ bought: path }, 200, { location, etag: '"secret"' })
      },
    ] as const
  overridden.get('/before', ...sold('/before'))
  app.get('/before', ...sold('/before'))
  app.get('/get', ...sold('/get'))
  app.all('/all', ...sold('/all'))
  app.use('/use/*', sell(sale))
  app.all('/use/*', sold('/use')[1])
  app.route('/api', new Hono().get('/get', ...sold('/api/get')))
  app.use('/after', sell(sale))
  app.use('/after', overriding)
  overridden.get('/after', sold('/after')[1])
  app.get('/after', sold('/after')[1])
  app.get('/by/:id', ...sold('/by'))
  const listening = await new Promise<Server>((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () =>
      resolve(server as Server),
    )
  })
  return opened(listening, () => served)
}

function opened(server: Server, served: () => number): GatedShop {
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    served,
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
