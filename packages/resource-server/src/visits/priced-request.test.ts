import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Headers } from '@svc-zerc20/protocol'
import type { PaymentRequired } from '@x402/core/types'
import * as express402 from '@x402/express'
import * as hono402 from '@x402/hono'
import express from 'express'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFacilitator, type TestFacilitator } from '../../test/facilitator.js'
import { sendRaw } from '../../test/raw-request.js'
import { offerOf, schemeFor } from '../../test/shop.js'
import { type PaidSale, sellOnExpress, sellOnHono, sellOnNext } from '../index.js'
import { pathsOf } from './priced-request.js'

// Outside a bundler only the CommonJS build of the next adapter finds `next/server`.
const require = createRequire(import.meta.url)
const { withX402FromHTTPServer } = require('@x402/next') as typeof import('@x402/next')
const { NextRequest } = require('next/server') as typeof import('next/server.js')

let facilitator: TestFacilitator
beforeAll(async () => {
  facilitator = await startFacilitator()
})
afterAll(() => facilitator.close())

/** What a request is asked to pay; its status where it gets no offer. */
type PriceOf = (target: string) => Promise<number>
type Open = (price: PaidSale['price']) => Promise<{ priceOf: PriceOf; close(): Promise<void> }>

const options = { clientLimits: 'unlimited' } as const
const amountIn = (status: number, header: unknown): number => {
  const decoded = Headers.decode(typeof header === 'string' ? header : undefined)
  if (!decoded.ok) return status
  const { amount, extra } = offerOf(decoded.value as PaymentRequired)
  // An entry of a route table that nobody can pay.
  if (extra.expiresAt === 0) return status
  return Number(amount) - Number((extra.fee as { amount: string }).amount)
}

function asked(server: Server) {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    async priceOf(target: string) {
      const { status, headers } = await sendRaw(url, { method: 'GET', target })
      return amountIn(status, headers['payment-required'])
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

const openExpress: Open = async (price) => {
  const paid = sellOnExpress(schemeFor(facilitator.url), express402.paymentMiddlewareFromHTTPServer, options)
  const app = express().set('query parser', 'extended')
  const handler: express.RequestHandler = (_request, response) => void response.end()
  app.get('/img/:size', paid({ price }), handler)
  app.get(['/other', '/Named/:size/x'], paid({ price }), handler)
  app.get('/deep/:size/*rest', paid({ price }), handler)
  app.use('/sub', express.Router().get('/:size', paid({ price }), handler))
  app.use('/all', paid({ price }), express.Router().get('/large', handler))
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return asked(server)
}

const openHono: Open = async (price) => {
  const paid = sellOnHono(schemeFor(facilitator.url), hono402.paymentMiddlewareFromHTTPServer, options)
  const app = new Hono({ strict: false })
  for (const path of ['/img/:size', '/all/*']) app.get(path, paid({ price }), (context) => context.text(''))
  const server = await new Promise<Server>((resolve) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () =>
      resolve(started as Server),
    )
  })
  return asked(server)
}

const openNext: Open = async (price) => {
  const paid = sellOnNext(schemeFor(facilitator.url), withX402FromHTTPServer, options)
  const route = paid({ price }, async () => new Response('')) as unknown as (
    request: object,
    context: object,
  ) => Promise<Response>
  return {
    async priceOf(target) {
      const { status, headers } = await route(new NextRequest(`http://127.0.0.1${target}`), {})
      return amountIn(status, headers.get('payment-required') ?? undefined)
    },
    close: async () => {},
  }
}

const openTable: Open = async (price) => {
  const svc = schemeFor(facilitator.url)
  const server = new express402.x402ResourceServer(svc.facilitatorClient).register(svc.network, svc)
  const routes = {
    '/img/:size': { accepts: svc.accept({ price }) },
    '/all/*': { accepts: svc.accept({ price }) },
  }
  const app = express().use(express402.paymentMiddleware(routes, server))
  const listening = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => listening.once('listening', resolve))
  return asked(listening)
}

const bySize: PaidSale['price'] = ({ adapter }) =>
  adapter.getQueryParam?.('size') === 'large' ? '500' : '100'
const lastOf = (path: string) => (path.endsWith('/large') ? '500' : '100')
const byPath: [string, PaidSale['price']][] = [
  ['path', ({ path }) => lastOf(path)],
  ['decodedPath', ({ decodedPath }) => lastOf(decodedPath ?? '')],
  ['getPath', ({ adapter }) => lastOf(adapter.getPath())],
  ['getUrl', ({ adapter }) => lastOf(new URL(adapter.getUrl()).pathname)],
  ['all of it', ({ path }) => (['/img/large', '/sub/large', '/all/large'].includes(path) ? '500' : '100')],
]

describe.each([
  ['express', openExpress],
  ['hono', openHono],
  ['next', openNext],
  ['a route table', openTable],
])('a price function on %s', (framework, open) => {
  it('sees one value for a name of the query: a request with two is not sold', async () => {
    const { priceOf, close } = await open(bySize)
    const refused = framework === 'a route table' ? 402 : 400
    const price = (query: string) => priceOf(`/img/x?${query}`)
    expect(await price('size=large')).toBe(500)
    expect(await price('s%69ze=large&other=1')).toBe(500)
    expect(await price('other=1&size=small')).toBe(100)
    for (const query of [
      'size=large&size=x',
      'size=x&size=large',
      'size=&size=large',
      'size=x&s%69ze=large',
    ]) {
      expect([query, await price(query)]).toEqual([query, refused])
    }
    if (framework === 'express') {
      for (const query of ['size[]=large', 'size[a]=large']) expect(await price(query)).toBe(400)
    }
    await close()
  })

  it.each(byPath)('that reads %s cannot be passed by another spelling of the path', async (_, read) => {
    const { priceOf, close } = await open(read)
    const places = framework === 'express' ? ['/img', '/sub', '/all'] : ['/img', '/all']
    for (const place of places) {
      for (const target of [`${place}/large`, `${place}/l%61rge`, `${place}/large/`]) {
        expect([target, await priceOf(target)]).toEqual([target, 500])
      }
      expect(await priceOf(`${place}/small`)).toBe(100)
      const loud = await priceOf(`${place.toUpperCase()}/large`)
      // Routers that tell letters apart have no such route.
      if (framework === 'express' || framework === 'a route table')
        expect([place, loud]).toEqual([place, 500])
    }
    if (framework === 'express') {
      expect(await priceOf('/ALL/LARGE')).toBe(500)
      expect(await priceOf('http://other.example/img/large')).toBe(500)
      // The parameter of its route is `large`, and nothing is left of it where dot segments are taken away.
      const first: PaidSale['price'] = ({ path }) => (path.startsWith('/deep/large') ? '500' : '100')
      const deep = await open(first)
      for (const rest of ['x', '..', '../x', '%2e%2e%2f']) {
        expect([rest, await deep.priceOf(`/deep/large/${rest}`)]).toEqual([rest, 500])
      }
      await deep.close()
    }
    await close()
  })
})

describe('the paths by which a request is priced', () => {
  it.each([
    ['/IMG/XL', { mount: '', patterns: ['/img/:size'] }, ['/img/XL']],
    ['/NAMED/XL/x/', { mount: '', patterns: ['/other', '/Named/:size/x'] }, ['/Named/XL/x']],
    ['/API/IMG/XL', { mount: '/API', patterns: ['/img/:size'] }, ['/API/img/XL', '/api/img/XL']],
    ['/F/%2e%2e/B%2FC', { mount: '/F', patterns: ['/*rest'] }, ['/B/C', '/F/../B/C', '/f/../B/C']],
    ['/by/large/../x', { mount: '', patterns: ['/by/:size/*rest'] }, ['/by/x', '/by/large/../x']],
    ['/F//B', { mount: '/F', patterns: [] }, ['/F/B', '/f/b']],
    ['/a/%E4%zz', undefined, ['/a/%E4%zz']],
    ['/a%2fb/./', undefined, ['/a/b', '/a/b/.']],
  ])('of %s matched by %o are %o', (asked, anyCase, paths) => {
    expect(pathsOf(asked, anyCase)).toEqual(paths)
  })
})
