/** Shops behind the official middleware of each framework, all selling the same two routes. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import {
  type Clock,
  createSvcScheme,
  type GateOptions,
  type Limits,
  type PaidSale,
  type RouteSale,
  type SvcScheme,
  sellOnExpress,
  sellOnHono,
} from '@svc-zerc20/resource-server'
import * as express402 from '@x402/express'
import * as hono402 from '@x402/hono'
import express, { type RequestHandler } from 'express'
import { Hono } from 'hono'
import type { Interop } from './network.js'
import { network } from './network.js'

export const secret = 'the secret all instances of one shop share'
export const prices = { '/cheap': '1000', '/dear': '250000', '/upfront': '1000' } as const
export type Path = keyof typeof prices

export type ShopOptions = {
  readonly secret?: string
  readonly limits?: Partial<Limits>
  readonly clock?: Clock
  /** Further terms of the cheap route. */
  readonly cheap?: Partial<RouteSale>
  /** How often one client may ask. Default: unlimited. */
  readonly clientLimits?: GateOptions<never>['clientLimits']
  /** A middleware before the paid handler, such as the seller's own limit. */
  readonly before?: RequestHandler
  /** Runs inside the handler, which the default flow calls between verify and settle. */
  readonly onHandle?: () => Promise<unknown>
}

export type Shop = {
  readonly url: string
  /** How often a handler ran. */
  served(): number
  close(): Promise<void>
}

export function schemeFor({ proxy, token }: Interop, options: ShopOptions = {}): SvcScheme {
  return createSvcScheme({
    facilitatorUrl: proxy.url,
    network,
    token,
    secret: options.secret ?? secret,
    ...(options.limits && { limits: options.limits }),
    ...(options.clock && { clock: options.clock }),
  })
}

function salesOf({ cheap }: ShopOptions) {
  const sales: [Path, PaidSale][] = [
    [
      '/cheap',
      {
        price: prices['/cheap'],
        description: 'a cheap thought',
        mimeType: 'application/json',
        ...cheap,
      },
    ],
    ['/dear', { price: prices['/dear'], description: 'a dear thought' }],
    ['/upfront', { price: prices['/upfront'], upfront: true }],
  ]
  return sales
}

const gateOf = ({ clientLimits = 'unlimited' }: ShopOptions) => ({ clientLimits })

export async function openExpressShop(interop: Interop, options: ShopOptions = {}): Promise<Shop> {
  const svc = schemeFor(interop, options)
  const paid = sellOnExpress(svc, express402.paymentMiddlewareFromHTTPServer, gateOf(options))
  let served = 0
  const app = express()
  if (options.before) app.use(options.before)
  for (const [path, sale] of salesOf(options)) {
    app.get(path, paid(sale), async (request, response) => {
      served += 1
      await options.onHandle?.()
      response.json({ bought: request.path })
    })
  }
  const listening = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => listening.once('listening', resolve))
  return { url: urlOf(listening), served: () => served, close: () => closeServer(listening) }
}

export async function openHonoShop(interop: Interop, options: ShopOptions = {}): Promise<Shop> {
  const svc = schemeFor(interop, options)
  const paid = sellOnHono(svc, hono402.paymentMiddlewareFromHTTPServer, gateOf(options))
  let served = 0
  const app = new Hono()
  for (const [path, sale] of salesOf(options)) {
    app.get(path, paid(sale), async (context) => {
      served += 1
      await options.onHandle?.()
      return context.json({ bought: context.req.path })
    })
  }
  const listening = await new Promise<Server>((resolve) => {
    const opened = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () =>
      resolve(opened as Server),
    )
  })
  return { url: urlOf(listening), served: () => served, close: () => closeServer(listening) }
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
