import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Headers } from '@svc-zerc20/protocol'
import type { HTTPRequestContext } from '@x402/core/http'
import type { FacilitatorClient } from '@x402/core/server'
import type { AssetAmount, PaymentRequired } from '@x402/core/types'
import * as express402 from '@x402/express'
import * as hono402 from '@x402/hono'
import express from 'express'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startFacilitator, type TestFacilitator } from '../../test/facilitator.js'
import { sendRaw } from '../../test/raw-request.js'
import { offerOf, schemeFor } from '../../test/shop.js'
import { type PaidSale, sellOnExpress, sellOnHono, sellOnNext } from '../index.js'
import { type AnyCase, type Params, pathsOf } from './priced-request.js'

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
      const size = decodeURIComponent(target.split(/[/?]/)[2] ?? '')
      const context = { params: Promise.resolve({ size }) }
      const { status, headers } = await route(new NextRequest(`http://127.0.0.1${target}`), context)
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

const byParameter: PaidSale['price'] = ({ params }) => (params.size === 'large' ? '500' : '100')
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

  it('sees the route parameters as the handler does', async () => {
    const { priceOf, close } = await open(byParameter)
    for (const size of ['large', 'l%61rge', 'large/']) expect(await priceOf(`/img/${size}`)).toBe(500)
    for (const size of ['small', 'LARGE']) expect(await priceOf(`/img/${size}`)).toBe(100)
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
  const of = (path: string, pattern: string, params: Params) =>
    pathsOf({ path, anyCase: { mount: '', patterns: [pattern] }, params })

  it.each<[string, AnyCase | undefined, Params | undefined, string[]]>([
    ['/IMG/XL', { mount: '', patterns: ['/img/:size'] }, { size: 'XL' }, ['/img/XL']],
    ['/NAMED/XL/x/', { mount: '', patterns: ['/other', '/Named/:size/x'] }, { size: 'XL' }, ['/Named/XL/x']],
    [
      '/API/IMG/XL',
      { mount: '/API', patterns: ['/img/:size'] },
      { size: 'XL' },
      ['/API/img/XL', '/api/img/XL'],
    ],
    ['/F/%2e%2e/B%2FC', { mount: '/F', patterns: [] }, {}, ['/B/C', '/F/../B/C', '/b/c', '/f/../b/c']],
    [
      '/F/%2e%2e/B%2FC',
      { mount: '/F', patterns: ['/*rest'] },
      { rest: ['..', 'B/C'] },
      ['/B/C', '/F/../B/C', '/f/../B/C'],
    ],
    ['/F//B', { mount: '/F', patterns: [] }, {}, ['/F/B', '/f/b']],
    ['/F/B', { mount: '', patterns: ['/g'] }, undefined, ['/F/B', '/f/b']],
    ['/a/%E4%zz', undefined, undefined, ['/a/%E4%zz']],
    ['/a%2fb/./', undefined, undefined, ['/a/b', '/a/b/.']],
  ])('of %s matched by %o with %o are %o', (path, anyCase, params, paths) => {
    expect(pathsOf({ path, anyCase, params })).toEqual(paths)
  })

  it('have the letters of any pattern of express', () => {
    expect(of('/IMG/Large.JPG', '/Img/:size.jpg', { size: 'Large' })).toEqual(['/Img/Large.jpg'])
    for (const path of ['/OPT/large', '/opt/large/']) {
      expect(of(path, '/Opt{/:size}', { size: 'large' })).toEqual(['/Opt/large'])
    }
    expect(of('/OPT', '/Opt{/:size}', {})).toEqual(['/Opt'])
    expect(of('/A/b/c', '/a{/B{/:last}}', { last: 'c' })).toEqual(['/a/B/c'])
    expect(of('/X:Y/z', '/x\\:y/:"long name"', { 'long name': 'z' })).toEqual(['/x:y/z'])
    expect(of('/IMG/a', '/Img/[size]', { size: 'a' })).toEqual(['/Img/a'])
    expect(of('/CAF%C3%89/1', '/caf%C3%89/:n', { n: '1' })).toEqual(['/cafÉ/1'])
  })
})

describe('a price function of express', () => {
  type Sold = (app: express.Express, paid: (sale: PaidSale) => express.RequestHandler) => unknown
  const answer: express.RequestHandler = (_request, response) => void response.end()
  async function openApp(sold: Sold) {
    const app = express()
    sold(app, sellOnExpress(schemeFor(facilitator.url), express402.paymentMiddlewareFromHTTPServer, options))
    const server = app.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    return asked(server)
  }

  it('that knows the path in the letters of its pattern is not passed by others', async () => {
    const price: PaidSale['price'] = ({ path }) =>
      ['/Img/large.jpg', '/Opt/large'].includes(path) ? '500' : '100'
    const { priceOf, close } = await openApp((app, paid) => {
      for (const path of ['/Img/:size.jpg', '/Opt{/:size}']) app.get(path, paid({ price }), answer)
    })
    for (const target of [
      '/Img/large.jpg',
      '/IMG/large.jpg',
      '/img/l%61rge.JPG',
      '/OPT/large',
      '/opt/large/',
    ]) {
      expect([target, await priceOf(target)]).toEqual([target, 500])
    }
    expect([await priceOf('/IMG/small.jpg'), await priceOf('/Opt')]).toEqual([100, 100])
    await close()
  })

  it('that reads the route parameters is passed by no letters, also behind a mount', async () => {
    const price: PaidSale['price'] = ({ params }) => (params.size === 'small' ? '100' : '500')
    const { priceOf, close } = await openApp((app, paid) =>
      app.use('/Api', express.Router().get('/Pic/:size', paid({ price }), answer)),
    )
    for (const target of ['/Api/Pic/large', '/API/Pic/large', '/api/pic/l%61rge/', '/API/PIC/Small']) {
      expect([target, await priceOf(target)]).toEqual([target, 500])
    }
    expect(await priceOf('/API/PIC/sm%61ll/')).toBe(100)
    await close()
  })

  it('may throw for a spelling that it does not know, if it knows another, and else sells nothing', async () => {
    const price: PaidSale['price'] = ({ path }) => {
      if (path !== '/Sub/large') throw new Error(`no price of ${path}`)
      return '700'
    }
    const { priceOf, close } = await openApp((app, paid) =>
      app.use('/Sub', express.Router().get('/:size', paid({ price }), answer)),
    )
    const silent = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    // A status, as nobody can tell the letters of a mount.
    expect([await priceOf('/Sub/large'), await priceOf('/SUB/large')]).toEqual([700, 500])
    silent.mockRestore()
    await close()
  })
})

describe('a price function of another scheme', () => {
  it('sees the same one request', async () => {
    const [scheme, network, dear] = ['exact', 'eip155:1', '500'] as const
    const asset = `0x${'11'.repeat(20)}`
    const svc = schemeFor(facilitator.url)
    const otherClient = {
      getSupported: async () => ({
        kinds: [{ x402Version: 2, scheme, network }],
        extensions: [],
        signers: {},
      }),
    } as unknown as FacilitatorClient
    const server = new express402.x402ResourceServer([svc.facilitatorClient, otherClient])
      .register(svc.network, svc)
      .register(network, {
        scheme,
        defaultAssetTransferMethod: 'default',
        paymentFlows: { default: { supported: ['authorization'], default: 'authorization' } },
        parsePrice: async (price) => price as AssetAmount,
        enhancePaymentRequirements: async (built) => built,
      })
    const price = ({ adapter, path }: HTTPRequestContext) => {
      const isSmall = adapter.getQueryParam?.('size') === 'x' || path === '/img/small'
      return { asset, amount: isSmall ? '100' : dear }
    }
    const other = { scheme, network, payTo: asset, price }
    const paid = sellOnHono(svc, hono402.paymentMiddlewareFromHTTPServer, { ...options, server })
    const app = new Hono({ strict: false })
    app.get('/img/:size', paid({ price: '100', alsoAccepts: [other] }), (context) => context.text(''))
    const amountOf = async (target: string) => {
      const { status, headers } = await app.request(target)
      const decoded = Headers.decode(headers.get('payment-required') ?? undefined)
      return decoded.ok ? (decoded.value as PaymentRequired).accepts[1]?.amount : status
    }
    expect(await amountOf('/img/big?size=large&size=x')).toBe(400)
    expect(await amountOf('/img/big?size=x&size=large')).toBe(400)
    expect(await amountOf('/img/big')).toBe(dear)
    expect(await amountOf('/img/sm%61ll/')).toBe('100')
  })
})
