/** A payment is verified and then not accepted: the answer must contain nothing that the handler wrote. */
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { type AddressInfo, connect } from 'node:net'
import { serve } from '@hono/node-server'
import { Headers } from '@svc-zerc20/protocol'
import type { PaymentRequired } from '@x402/core/types'
import * as express402 from '@x402/express'
import * as hono402 from '@x402/hono'
import express, { type RequestHandler } from 'express'
import { type Context, Hono } from 'hono'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, refused, startFacilitator, type TestFacilitator } from '../../test/facilitator.js'
import { offerOf, paying, paymentFor, schemeFor } from '../../test/shop.js'
import { sellOnExpress, sellOnHono, sellOnNext } from '../index.js'

// Outside a bundler only the CommonJS build of the next adapter finds `next/server`.
const require = createRequire(import.meta.url)
const { withX402FromHTTPServer } = require('@x402/next') as typeof import('@x402/next')
const { NextRequest, NextResponse } = require('next/server') as typeof import('next/server.js')

const secret = 'SIGNED-SECRET'
const location = `https://files.example/a?sig=${secret}`
const secretHeaders = {
  'set-cookie': `session=${secret}`,
  'x-download': secret,
  etag: `"${secret}"`,
  'last-modified': secret,
  link: `<${location}>; rel=preload`,
  'content-disposition': `attachment; filename="${secret}"`,
  'cache-control': `private, x-${secret}`,
}

const onExpress: Record<string, RequestHandler> = {
  'a redirect': (_, response) => response.redirect(location),
  'headers of every kind': (_, response) => response.set(secretHeaders).send('bought'),
  'a cookie beside one of before': (_, response) => response.append('set-cookie', secret).send('bought'),
  'a header of before, changed': (_, response) => response.set('x-shop', secret).send('bought'),
  'a status message': (_, response) => {
    response.statusMessage = secret
    response.send('bought')
  },
  'writeHead with headers': (_, response) => {
    response.writeHead(200, secret, secretHeaders).end('bought')
  },
  'headers flushed before the body': (_, response) => {
    response.set(secretHeaders).flushHeaders()
    response.write('bought ')
    response.end(secret)
  },
  trailers: (_, response) => {
    response.set({ trailer: 'x-sum', 'transfer-encoding': 'chunked' })
    response.write('bought')
    response.addTrailers({ 'x-sum': secret })
    response.end()
  },
  'a json of its own': (_, response) => {
    const { json } = response
    response.json = (body) => json.call(response.set('x-download', secret), body)
    response.json({ bought: true })
  },
}

const onHono: Record<string, (context: Context) => Response | Promise<Response>> = {
  'a redirect': (context) => context.redirect(location),
  'headers of every kind': (context) => {
    for (const [name, value] of Object.entries(secretHeaders)) context.header(name, value)
    return context.text('bought')
  },
  'a response of its own': () =>
    new Response(secret, { status: 200, statusText: secret, headers: secretHeaders }),
  'a header of before, changed': (context) => {
    context.header('x-shop', secret)
    return context.text('bought')
  },
}

const onNext: Record<string, () => Promise<Response>> = {
  'a redirect': async () => NextResponse.redirect(location),
  'headers of every kind': async () => NextResponse.json({ bought: true }, { headers: secretHeaders }),
  'a status message': async () => new NextResponse(secret, { statusText: secret }),
  'a cookie': async () => {
    const response = NextResponse.json({ bought: true })
    response.cookies.set('session', secret)
    return response
  },
}

const settlesThatFail: [string, Answer, number][] = [
  ['is refused', { body: refused('permit_consumed') }, 402],
  ['ends in a 503 without a verdict', { status: 503, body: { error: 'busy', reason: 'busy' } }, 502],
  ['is never answered', 'drop', 502],
]

let facilitator: TestFacilitator
const closing: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  facilitator = await startFacilitator()
})
beforeEach(() => facilitator.reset())
afterEach(() => Promise.all(closing.splice(0).map((close) => close())))
afterAll(() => facilitator.close())

const scheme = () => schemeFor(facilitator.url, { limits: { recoveryPausesMs: [] } })
const unlimited = { clientLimits: 'unlimited' } as const

/** Returns every byte of the connection: anything before the answer, its head, its body, anything after it. */
type Send = (headers: Record<string, string>) => Promise<string>

function listening(server: Server): Send {
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return async (headers) => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    const lines = Object.entries({ host: 'shop', connection: 'close', te: 'trailers', ...headers })
    socket.write(`GET /x HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
    let text = ''
    for await (const chunk of socket) text += chunk
    return text
  }
}

async function openExpress(handler: RequestHandler): Promise<Send> {
  const sell = sellOnExpress(scheme(), express402.paymentMiddlewareFromHTTPServer, unlimited)
  const before: RequestHandler = (_, response, next) => {
    response.set({ 'x-shop': 'open', 'set-cookie': ['visitor=1', 'lang=en'] })
    next()
  }
  const server = express()
    .get('/x', before, sell({ price: '100' }), handler)
    .listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return listening(server)
}

async function openHono(handler: (context: Context) => Response | Promise<Response>): Promise<Send> {
  const sell = sellOnHono(scheme(), hono402.paymentMiddlewareFromHTTPServer, unlimited)
  const { fetch } = new Hono().get('/x', sell({ price: '100' }), handler)
  return new Promise((resolve) => {
    const server = serve({ fetch, port: 0, hostname: '127.0.0.1' }, () =>
      resolve(listening(server as Server)),
    )
  })
}

async function openNext(handler: () => Promise<Response>): Promise<Send> {
  const route = sellOnNext(scheme(), withX402FromHTTPServer, unlimited)({ price: '100' }, handler) as (
    request: unknown,
    context: unknown,
  ) => Promise<Response>
  return async (headers) => {
    const response = await route(new NextRequest('http://127.0.0.1/x', { headers }), {})
    const head = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
    return `HTTP/1.1 ${response.status} ${response.statusText}\r\n${head}\r\n${await response.text()}`
  }
}

async function buy(send: Send): Promise<string> {
  const [, header] = /^payment-required: (.*)\r$/im.exec(await send({})) ?? []
  const decoded = Headers.decode(header)
  if (!decoded.ok) throw new Error('no offer')
  return send(paying(paymentFor(offerOf(decoded.value as PaymentRequired))).headers)
}

const sales: [string, string, () => Promise<Send>][] = [
  ...Object.entries(onExpress).map(
    ([what, handler]) =>
      ['express', what, () => openExpress(handler)] as [string, string, () => Promise<Send>],
  ),
  ...Object.entries(onHono).map(
    ([what, handler]) => ['hono', what, () => openHono(handler)] as [string, string, () => Promise<Send>],
  ),
  ...Object.entries(onNext).map(
    ([what, handler]) => ['next', what, () => openNext(handler)] as [string, string, () => Promise<Send>],
  ),
]

describe.each(sales)('what a handler of %s says by %s', (_framework, _what, open) => {
  it('reaches whoever paid', async () => {
    expect(await buy(await open())).toContain(secret)
  })

  it.each(settlesThatFail)('is not in the answer when settle %s', async (_, settle, status) => {
    facilitator.script.settle = () => settle
    const answer = await buy(await open())
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).not.toContain(secret)
    expect(answer).not.toContain('bought')
  })
})

describe('an express handler whose payment is not accepted', () => {
  it('does not undo what was said before the gate', async () => {
    facilitator.script.settle = () => ({ body: refused('permit_consumed') })
    const send = await openExpress((_, response) => {
      response.set({ 'x-shop': 'closed', 'set-cookie': secret }).removeHeader('x-powered-by')
      response.send('bought')
    })
    const answer = (await buy(send)).toLowerCase()
    for (const header of [
      'x-shop: open',
      'set-cookie: visitor=1',
      'set-cookie: lang=en',
      'x-powered-by: express',
    ]) {
      expect(answer).toContain(`\r\n${header}\r\n`)
    }
    expect(answer).toMatch(/\r\npayment-response: /)
  })

  it('sends no early hints: they would be gone before the payment is accepted', async () => {
    let isDone = false
    const send = await openExpress((_, response) => {
      response.writeEarlyHints({ link: `<${location}>; rel=preload` }, () => {
        isDone = true
      })
      response.send('bought')
    })
    const answer = await buy(send)
    expect(answer).toMatch(/^HTTP\/1.1 200 /)
    expect(isDone).toBe(true)
    expect(answer).not.toContain(secret)
  })
})
