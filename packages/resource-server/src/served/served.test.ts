import { request as open, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Headers } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import type { PaymentRequired } from '@x402/core/types'
import * as express402 from '@x402/express'
import * as hono402 from '@x402/hono'
import express from 'express'
import { Hono } from 'hono'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { refused, startFacilitator, type TestFacilitator } from '../../test/facilitator.js'
import { type RawAnswer, sendRaw } from '../../test/raw-request.js'
import { offerOf, paying, paymentFor, schemeFor } from '../../test/shop.js'
import {
  type AnswerStore,
  createMemoryAnswers,
  type GateOptions,
  type PaidSale,
  sellOnExpress,
  sellOnHono,
  sellOnNext,
} from '../index.js'
import { answerLimits, heldLimits, presentationLimits } from '../limits.js'

// Outside a bundler only the CommonJS build of the next adapter finds `next/server`.
const require = createRequire(import.meta.url)
const { withX402FromHTTPServer } = require('@x402/next') as typeof import('@x402/next')
const { NextRequest } = require('next/server') as typeof import('next/server.js')

const cookies = ['first=1; Path=/', 'second=2; Path=/']
const body = Buffer.from([0, 255, 10, 13, 10, 200, 1])

/** What a handler does between its call and its answer. It may return the status of that answer. */
type Work = () => Promise<unknown>
const statusOf = (done: unknown) => (typeof done === 'number' ? done : 201)
type Ask = (target: string, headers?: Record<string, string>) => Promise<RawAnswer>
type Opened = { readonly ask: Ask; readonly url?: string; close(): Promise<void> }
type Open = (
  url: string,
  work: Work,
  options: GateOptions<never>,
  sale?: Partial<PaidSale>,
) => Promise<Opened>

const listening = (server: Server): Opened & { readonly url: string } => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    ask: (target, headers = {}) => sendRaw(url, { method: 'GET', target, headers }),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
const limitsOff = { clientLimits: 'unlimited' } as const

const openExpress: Open = async (url, work, options, sale) => {
  const paid = sellOnExpress(schemeFor(url), express402.paymentMiddlewareFromHTTPServer, {
    ...limitsOff,
    ...(options as object),
  })
  const app = express()
  app.get('/goods', paid({ price: '100', ...sale }), async (_request, response) => {
    const status = statusOf(await work())
    response.setHeader('set-cookie', cookies)
    response.writeHead(status, { 'content-type': 'application/octet-stream', etag: '"e"' })
    response.write(body.subarray(0, 3))
    response.end(body.subarray(3))
  })
  return listenOn(app)
}

async function listenOn(app: express.Express): Promise<Opened & { readonly url: string }> {
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return listening(server)
}

/** Asks for an offer, and makes the headers of a payment for it. */
async function pay({ ask }: Pick<Opened, 'ask'>, target = '/goods') {
  const decoded = Headers.decode(String((await ask(target)).headers['payment-required']))
  if (!decoded.ok) throw new Error('no offer')
  return paying(paymentFor(offerOf(decoded.value as PaymentRequired))).headers
}

const answer = (status: number) => {
  const response = new Response(body, {
    status,
    headers: { 'content-type': 'application/octet-stream', etag: '"e"' },
  })
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}

const openHono: Open = async (url, work, options, sale) => {
  const paid = sellOnHono(schemeFor(url), hono402.paymentMiddlewareFromHTTPServer, {
    ...limitsOff,
    ...(options as object),
  })
  const app = new Hono()
  app.get('/goods', paid({ price: '100', ...sale }), async () => {
    return answer(statusOf(await work()))
  })
  const server = await new Promise<Server>((resolve) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () =>
      resolve(started as Server),
    )
  })
  return listening(server)
}

const openNext: Open = async (url, work, options, sale) => {
  const sell = sellOnNext(schemeFor(url), withX402FromHTTPServer, { ...limitsOff, ...(options as object) })
  const handle = sell({ price: '100', ...sale }, async () => {
    return answer(statusOf(await work()))
  })
  const route = handle as unknown as (request: object, context: object) => Promise<Response>
  return {
    async ask(target, headers = {}) {
      const response = await route(new NextRequest(`http://127.0.0.1${target}`, { headers }), {})
      const told = { ...Object.fromEntries(response.headers), 'set-cookie': response.headers.getSetCookie() }
      const bytes = Buffer.from(await response.arrayBuffer())
      return { status: response.status, headers: told, body: bytes.toString('utf8') }
    },
    close: async () => {},
  }
}

describe.each([
  ['express', openExpress],
  ['hono', openHono],
  ['next', openNext],
])('an answer that was paid for on %s', (framework, start) => {
  let facilitator: TestFacilitator
  const opened: Opened[] = []
  beforeAll(async () => {
    facilitator = await startFacilitator()
  })
  afterEach(async () => {
    facilitator.reset()
    await Promise.all(opened.splice(0).map((shop) => shop.close()))
  })
  afterAll(() => facilitator.close())

  let runs = 0
  async function openShop(
    options: GateOptions<never> = {},
    { work = async () => {}, sale = {} }: { work?: Work; sale?: Partial<PaidSale> } = {},
  ) {
    runs = 0
    const counted = async () => {
      runs += 1
      return work()
    }
    const shop = await start(facilitator.url, counted, options, sale)
    opened.push(shop)
    return shop
  }
  const told = ({ status, headers, body }: RawAnswer) => {
    const names = ['content-type', 'etag', 'set-cookie', 'payment-response', 'cache-control']
    return { status, body, headers: Object.fromEntries(names.map((name) => [name, headers[name]])) }
  }
  const isUsed = () => {
    facilitator.script.verify = () => ({ body: { isValid: false, invalidReason: 'already_accepted' } })
  }

  it('is given again, byte by byte, to whoever presents the same header, and the handler ran once', async () => {
    const shop = await openShop()
    const headers = await pay(shop)
    const first = await shop.ask('/goods', headers)
    expect(first.status).toBe(201)
    expect(first.headers).toMatchObject({ 'set-cookie': cookies, etag: '"e"' })
    isUsed()
    for (let i = 0; i < 3; i++) expect(told(await shop.ask('/goods', headers))).toEqual(told(first))
    expect(runs).toBe(1)
    expect(facilitator.counts()).toMatchObject({ verify: 1, settle: 1 })
  })

  it('is waited for by those who come while it is made: ten copies run the handler once', async () => {
    const shop = await openShop()
    const headers = await pay(shop)
    const answers = await Promise.all(Array.from({ length: 10 }, () => shop.ask('/goods', headers)))
    for (const each of answers) expect(told(each)).toEqual(told(answers[0] as RawAnswer))
    expect(answers[0]?.status).toBe(201)
    expect(runs).toBe(1)
    expect(facilitator.counts()).toMatchObject({ verify: 1, settle: 1 })
  })

  it('is never given for another target, nor for the same payment in another spelling', async () => {
    const shop = await openShop()
    const headers = await pay(shop)
    expect((await shop.ask('/goods?part=1', headers)).status).toBe(201)
    isUsed()
    expect((await shop.ask('/goods?part=2', headers)).status).toBe(402)
    expect((await shop.ask('/goods', headers)).status).toBe(402)
    const [name, value] = Object.entries(headers)[0] ?? []
    const decoded = Headers.decode(value)
    const respelled = Headers.encode({ ...(decoded.ok && (decoded.value as object)), note: 1 })
    expect((await shop.ask('/goods?part=1', { [String(name)]: respelled })).status).toBe(402)
    expect((await shop.ask('/goods?part=1', headers)).status).toBe(201)
    expect(runs).toBe(1)
  })

  it('is kept only when its payment was accepted', async () => {
    const shop = await openShop()
    const headers = await pay(shop)
    facilitator.script.settle = () => ({ body: refused('insufficient_funds') })
    expect((await shop.ask('/goods', headers)).status).toBe(402)
    facilitator.reset()
    expect((await shop.ask('/goods', headers)).status).toBe(201)
    expect(runs).toBe(2)
  })

  it('is forgotten after ten minutes, and at once where the seller wants it so', async () => {
    let aheadMs = 0
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
    for (const options of [{ clock }, { answers: 'none' as const }]) {
      facilitator.reset()
      const shop = await openShop(options)
      const headers = await pay(shop)
      expect((await shop.ask('/goods', headers)).status).toBe(201)
      isUsed()
      if ('clock' in options) expect((await shop.ask('/goods', headers)).status).toBe(201)
      aheadMs += answerLimits.keptMs
      expect((await shop.ask('/goods', headers)).status).toBe(402)
    }
  })

  it('outlives the shop in a store of the seller, and waits while that store fails', async () => {
    const kept = new Map<string, Uint8Array>()
    let isDown = false
    const answers: AnswerStore = {
      async get(key) {
        if (isDown) throw new Error('no store')
        return kept.get(key)
      },
      async set(key, bytes, keepMs) {
        expect(keepMs).toBe(answerLimits.keptMs)
        kept.set(key, Uint8Array.from(bytes))
      },
    }
    const shop = await openShop({ answers })
    const headers = await pay(shop)
    const first = await shop.ask('/goods', headers)
    isUsed()
    const restarted = await openShop({ answers })
    expect(told(await restarted.ask('/goods', headers))).toEqual(told(first))
    isDown = true
    const failed = await restarted.ask('/goods', headers)
    expect([failed.status, Number(failed.headers['retry-after']) > 0]).toEqual([503, true])
    expect(failed.headers).not.toHaveProperty('payment-required')
    expect(runs).toBe(0)
  })

  it('is given again when it was settled before the handler', async () => {
    const shop = await openShop({}, { sale: { upfront: true } })
    const headers = await pay(shop)
    const first = await shop.ask('/goods', headers)
    isUsed()
    expect(told(await shop.ask('/goods', headers))).toEqual(told(first))
    expect(runs).toBe(1)
  })

  /** A handler that fails in these ways, one after the other, and then delivers. */
  const failing = (...ways: (number | 'throw')[]): Work => {
    const rest = [...ways]
    return async () => {
      const way = rest.shift()
      if (way === 'throw') throw new Error('out of stock')
      return way
    }
  }
  const upfront = { upfront: true }
  const isUsedUp = () => {
    isUsed()
    facilitator.script.settle = () => ({ body: refused('already_accepted') })
  }

  it('is owed to an accepted payment whose handler failed: it runs again, without verify and settle, until one is kept', async () => {
    const silent = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const shop = await openShop({}, { work: failing('throw', 503), sale: upfront })
    const headers = await pay(shop)
    const failed = await shop.ask('/goods', headers)
    expect([failed.status, failed.headers['payment-response'] !== undefined]).toEqual([500, true])
    isUsedUp()
    facilitator.forget()
    expect((await shop.ask('/goods', headers)).status).toBe(503)
    const copies = await Promise.all(Array.from({ length: 5 }, () => shop.ask('/goods', headers)))
    for (const each of copies) expect(told(each)).toEqual(told(copies[0] as RawAnswer))
    expect(copies[0]?.status).toBe(201)
    expect(copies[0]?.headers['payment-response']).toBe(failed.headers['payment-response'])
    expect(runs).toBe(3)
    expect(facilitator.counts()).toMatchObject({ challenge: 0, verify: 0, settle: 0 })
    silent.mockRestore()
  })

  const inMemory = (kept = new Map<string, Uint8Array>()): AnswerStore => ({
    get: async (key) => kept.get(key),
    set: async (key, bytes) => void kept.set(key, Uint8Array.from(bytes)),
  })
  const reasonIn = ({ status, headers, body }: RawAnswer) => {
    expect(headers).not.toHaveProperty('payment-required')
    return [status, (JSON.parse(body) as { reason: string }).reason]
  }

  it('is owed for what was paid, whatever a function asks for now; another target is told so, and never to pay anew', async () => {
    let price = '100'
    const sale = { upfront: true, price: () => price }
    const shop = await openShop({}, { work: failing(500), sale })
    const headers = await pay(shop)
    expect((await shop.ask('/goods', headers)).status).toBe(500)
    isUsedUp()
    expect(reasonIn(await shop.ask('/goods?part=2', headers))).toEqual([503, 'payment_owed'])
    expect(runs).toBe(1)
    price = '101'
    expect((await shop.ask('/goods', headers)).status).toBe(201)
  })

  it('is made by one run at a time on instances that share a store, and by the next at once when that failed', async () => {
    const answers = inMemory()
    const releases: ((status: number) => void)[] = []
    const work = () => new Promise<number>((resolve) => releases.push(resolve))
    const [first, second] = [
      await openShop({ answers }, { work, sale: upfront }),
      await openShop({ answers }, { work, sale: upfront }),
    ]
    const headers = await pay(first)
    for (const [i, status] of [503, 201].entries()) {
      const [running, waiting] = i === 0 ? [first, second] : [second, first]
      const answer = running.ask('/goods', headers)
      while (releases.length <= i) await systemClock.sleep(5)
      isUsedUp()
      expect(reasonIn(await waiting.ask('/goods', headers))).toEqual([503, 'payment_under_way'])
      releases[i]?.(status)
      expect((await answer).status).toBe(status)
    }
    expect((await first.ask('/goods', headers)).status).toBe(201)
    expect([runs, releases.length]).toEqual([2, 2])
  })

  it('is owed after a crash in the handler, at a higher price and without the facilitator, if the store outlives the shop', async () => {
    let aheadMs = 0
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
    const answers = inMemory()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const crashing = await openShop({ answers }, { work: () => held, sale: upfront })
    const headers = await pay(crashing)
    const lost = crashing.ask('/goods', headers)
    while (runs === 0) await systemClock.sleep(5)
    isUsedUp()
    facilitator.script.supported = () => 'drop'
    const restarted = await openShop({ answers, clock }, { sale: { upfront: true, price: '200' } })
    // Nobody can tell a handler that is still running elsewhere from one that has crashed.
    expect(reasonIn(await restarted.ask('/goods', headers))).toEqual([503, 'payment_under_way'])
    aheadMs = answerLimits.keptMs + 1_000
    expect((await restarted.ask('/goods', headers)).status).toBe(201)
    expect((await restarted.ask('/goods', headers)).status).toBe(201)
    expect(runs).toBe(1)
    release()
    await lost
  })

  it('is owed also while the store takes nothing', async () => {
    const answers: AnswerStore = {
      get: async () => undefined,
      set: async () => {
        throw new Error('no store')
      },
    }
    const shop = await openShop({ answers }, { work: failing(500), sale: upfront })
    const headers = await pay(shop)
    expect((await shop.ask('/goods', headers)).status).toBe(500)
    isUsedUp()
    expect((await shop.ask('/goods', headers)).status).toBe(201)
    expect((await shop.ask('/goods', headers)).status).toBe(402)
    expect(runs).toBe(2)
  })

  it('is owed also to a payer behind whose address too much was refused', async () => {
    const options = { clientLimits: { refusedPerMinute: 1 }, client: () => 'shared' }
    const shop = await openShop(options, { work: failing(500), sale: upfront })
    const [headers, junk] = [await pay(shop), await pay(shop)]
    expect((await shop.ask('/goods', headers)).status).toBe(500)
    facilitator.script.settle = () => ({ body: refused('burn_mismatch') })
    expect([(await shop.ask('/goods', junk)).status, (await shop.ask('/goods', junk)).status]).toEqual([
      402, 429,
    ])
    expect((await shop.ask('/goods', headers)).status).toBe(201)
  })

  it('is owed once, also where no answer is kept or can be kept', async () => {
    const kept = new Map<string, Uint8Array>()
    const small: AnswerStore = {
      get: async (key) => kept.get(key),
      async set(key, bytes) {
        if (Buffer.from(bytes).includes(body)) throw new Error('too large')
        kept.set(key, Uint8Array.from(bytes))
      },
    }
    for (const answers of ['none', small] as const) {
      facilitator.reset()
      const shop = await openShop({ answers }, { work: failing(500), sale: upfront })
      const headers = await pay(shop)
      expect((await shop.ask('/goods', headers)).status).toBe(500)
      isUsedUp()
      expect((await shop.ask('/goods', headers)).status).toBe(201)
      expect((await shop.ask('/goods', headers)).status).toBe(402)
      expect(runs).toBe(2)
    }
  })

  // A handler of Next sees no connection.
  if (framework !== 'next') {
    it('reaches a payer whose connection was cut while the handler ran, and the handler ran once', async () => {
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      let started = () => {}
      const running = new Promise<void>((resolve) => {
        started = resolve
      })
      const work = () => {
        started()
        return held
      }
      const shop = await openShop({}, { work })
      const headers = await pay(shop)
      const cut = open(`${shop.url}/goods`, { headers, agent: false })
      const isCut = new Promise((resolve) => cut.once('error', resolve))
      cut.end()
      await running
      cut.destroy(new Error('cut'))
      await isCut
      const again = shop.ask('/goods', headers)
      release()
      expect((await again).status).toBe(201)
      isUsed()
      expect(told(await shop.ask('/goods', headers))).toEqual(told(await again))
      expect(runs).toBe(1)
    })
  }

  it('that takes longer than a payer waits is 503 with Retry-After for a second presentation', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const waits: number[] = []
    const clock = {
      now: () => 1_000_000,
      // Only the wait for a turn ends at once.
      sleep: (ms: number, signal?: AbortSignal) => {
        waits.push(ms)
        return ms === presentationLimits.waitMs ? Promise.resolve() : systemClock.sleep(ms, signal)
      },
    }
    const shop = await openShop({ clock }, { work: () => held })
    const headers = await pay(shop)
    const first = shop.ask('/goods', headers)
    while (runs === 0) await systemClock.sleep(5)
    const second = await shop.ask('/goods', headers)
    expect([second.status, second.headers['retry-after']]).toEqual([
      503,
      `${presentationLimits.retrySeconds}`,
    ])
    expect(second.headers).not.toHaveProperty('payment-required')
    expect(JSON.parse(second.body)).toMatchObject({ reason: 'payment_under_way' })
    expect(waits.at(-1)).toBe(presentationLimits.waitMs)
    release()
    expect((await first).status).toBe(201)
    expect((await shop.ask('/goods', headers)).status).toBe(201)
    expect(runs).toBe(1)
  })
})

/** What the handlers below do: end, or not; `null` is an answer that goes on for ever. */
type Answers = () => Promise<string | null>
/** Presents a payment as a client that can be gone. */
type Visitors = Opened & { leave(headers: Record<string, string>, isAtWork: Promise<void>): Promise<void> }

const cutAt =
  (url: string): Visitors['leave'] =>
  async (headers, isAtWork) => {
    const cut = open(`${url}/goods`, { headers, agent: false })
    const isCut = new Promise((resolve) => cut.once('error', resolve))
    cut.end()
    await isAtWork
    cut.destroy(new Error('cut'))
    await isCut
  }
const endless = (chunk: Uint8Array) =>
  new ReadableStream({
    async pull(controller) {
      await new Promise(setImmediate)
      controller.enqueue(chunk)
    },
  })

type OpenFor = (options: GateOptions<never>, answers: Answers, chunk: Uint8Array) => Promise<Visitors>
const visitedOn: [string, (url: string) => OpenFor][] = [
  [
    'express',
    (facilitatorUrl) => async (options, answers, chunk) => {
      const sell = { ...limitsOff, ...(options as object) }
      const paid = sellOnExpress(schemeFor(facilitatorUrl), express402.paymentMiddlewareFromHTTPServer, sell)
      const app = express()
      app.get('/goods', paid({ price: '100' }), async (_request, response) => {
        const text = await answers()
        response.setHeader('location', '/secret')
        if (text !== null) return response.end(text)
        while (response.write(chunk)) await new Promise(setImmediate)
        // A handler that does not look at what `write` returns.
        setTimeout(() => response.write('late'), 20)
      })
      app.use(((error, _request, response, _next) => {
        response.status(500).json({ code: error.code })
      }) as express.ErrorRequestHandler)
      const shop = await listenOn(app)
      return { ...shop, leave: cutAt(shop.url) }
    },
  ],
  [
    'hono',
    (facilitatorUrl) => async (options, answers, chunk) => {
      const sell = { ...limitsOff, ...(options as object) }
      const paid = sellOnHono(schemeFor(facilitatorUrl), hono402.paymentMiddlewareFromHTTPServer, sell)
      const app = new Hono().onError((error) =>
        Response.json({ code: (error as { code?: string }).code }, { status: 500 }),
      )
      app.get('/goods', paid({ price: '100' }), async () => new Response((await answers()) ?? endless(chunk)))
      const server = await new Promise<Server>((resolve) => {
        const started = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () =>
          resolve(started as Server),
        )
      })
      const shop = listening(server)
      return { ...shop, leave: cutAt(shop.url) }
    },
  ],
  [
    'next',
    (facilitatorUrl) => async (options, answers, chunk) => {
      const sell = { ...limitsOff, ...(options as object) }
      const sold = sellOnNext(schemeFor(facilitatorUrl), withX402FromHTTPServer, sell)
      const route = sold({ price: '100' }, async () => new Response((await answers()) ?? endless(chunk)))
      const call = (headers: Record<string, string>, signal?: AbortSignal) =>
        (route as unknown as (request: object, context: object) => Promise<Response>)(
          new NextRequest('http://127.0.0.1/goods', { headers, ...(signal && { signal }) }),
          {},
        )
      return {
        async ask(_target, headers = {}) {
          // Next turns what a handler throws into a 500.
          const failed = (error: { code?: string }) => Response.json({ code: error.code }, { status: 500 })
          const response = await call(headers).catch(failed)
          const body = await response.text()
          return { status: response.status, headers: Object.fromEntries(response.headers), body }
        },
        async leave(headers, isAtWork) {
          const client = new AbortController()
          void call(headers, client.signal).catch(() => {})
          await isAtWork
          client.abort()
        },
        close: async () => {},
      }
    },
  ],
]

describe.each(visitedOn)('a handler of %s', (_, openFor) => {
  let facilitator: TestFacilitator
  beforeAll(async () => {
    facilitator = await startFacilitator()
  })
  afterEach(() => facilitator.reset())
  afterAll(() => facilitator.close())

  it('that never ends once its client is gone keeps others from a second run for a while, and from their goods not for ever', async () => {
    let aheadMs = 0
    const clock = {
      now: () => systemClock.now() + aheadMs,
      sleep: (ms: number, signal?: AbortSignal) =>
        ms > presentationLimits.waitMs ? systemClock.sleep(ms, signal) : Promise.resolve(),
    }
    let runs = 0
    let begun = () => {}
    const isAtWork = new Promise<void>((resolve) => {
      begun = resolve
    })
    const work = () => {
      runs += 1
      begun()
      return runs === 1 ? new Promise<never>(() => {}) : Promise.resolve('goods')
    }
    const shop = await openFor(facilitator.url)({ clock }, work, body)
    const headers = await pay(shop)
    await shop.leave(headers, isAtWork)
    // The server hears of it a little later.
    let status = 503
    while (status === 503) {
      aheadMs = 0
      expect((await shop.ask('/goods', headers)).status).toBe(503)
      aheadMs = presentationLimits.abandonedMs + 5_000
      status = (await shop.ask('/goods', headers)).status
    }
    expect([status, runs]).toEqual([200, 2])
    await shop.close()
  })

  it.each([
    ['late', body, (ms: number) => ms === heldLimits.endsMs],
    ['large', new Uint8Array(heldLimits.bytesMax / 4), () => false],
  ])(
    'whose answer has no end is given up when it is too %s, sells nothing, and its payment stays good',
    async (_, chunk, isOver) => {
      const clock = {
        now: () => systemClock.now(),
        sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(isOver(ms) ? 50 : ms, signal),
      }
      let isEndless = true
      const work = async () => (isEndless ? null : 'goods')
      const shop = await openFor(facilitator.url)({ clock }, work, chunk)
      const headers = await pay(shop)
      const given = await shop.ask('/goods', headers)
      expect([given.status, JSON.parse(given.body)]).toEqual([500, { code: 'answer_endless' }])
      expect(given.headers).not.toHaveProperty('location')
      expect(facilitator.counts().settle).toBe(0)
      isEndless = false
      expect(await shop.ask('/goods', headers)).toMatchObject({ status: 200, body: 'goods' })
      expect(facilitator.counts().settle).toBe(1)
      await shop.close()
    },
  )
})

describe('an upfront route of express whose client is gone before its payment is accepted', () => {
  it('runs once for it, however long the handler takes', async () => {
    const facilitator = await startFacilitator()
    let aheadMs = 0
    const clock = { now: () => systemClock.now() + aheadMs, sleep: async () => {} }
    let [cutOff, isGone, finish] = [() => {}, () => {}, () => {}]
    const gone = new Promise<void>((resolve) => {
      isGone = resolve
    })
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const svc = schemeFor(facilitator.url, {
      async fetch(...call) {
        if (String(call[0]).endsWith('/settle')) {
          cutOff()
          await gone
        }
        return fetch(...call)
      },
    })
    const paid = sellOnExpress(svc, express402.paymentMiddlewareFromHTTPServer, { ...limitsOff, clock })
    let runs = 0
    const app = express()
    app.use((request, response, next) => {
      if (request.headers['payment-signature'] !== undefined) response.once('close', isGone)
      next()
    })
    app.get('/goods', paid({ price: '100', upfront: true }), async (_request, response) => {
      runs += 1
      if (runs === 1) await finished
      response.json({})
    })
    const { url, ask, close } = await listenOn(app)
    try {
      const headers = await pay({ ask })
      const cut = open(`${url}/goods`, { headers, agent: false })
      cutOff = () => cut.destroy(new Error('cut'))
      cut.once('error', () => {})
      cut.end()
      while (runs === 0) await systemClock.sleep(5)
      aheadMs += presentationLimits.abandonedMs
      expect((await ask('/goods', headers)).status).toBe(503)
      finish()
      expect((await ask('/goods', headers)).status).toBe(200)
      expect(runs).toBe(1)
      expect(facilitator.counts().settle).toBe(1)
    } finally {
      finish()
      await close()
      await facilitator.close()
    }
  })
})

describe('answers in memory', () => {
  const clock = { now: () => 0 }
  const has = async (store: AnswerStore, key: string) => (await store.get(key)) !== undefined

  it('are bounded in number and in bytes, and the oldest go first', async () => {
    const few = createMemoryAnswers({ answersMax: 2 }, clock)
    for (const key of ['a', 'b', 'c']) await few.set(key, new Uint8Array(1), 1_000)
    expect([await has(few, 'a'), await has(few, 'b'), await has(few, 'c')]).toEqual([false, true, true])
    const small = createMemoryAnswers({ bytesMax: 100 }, clock)
    for (const key of ['a', 'b']) await small.set(key, new Uint8Array(40), 1_000)
    await small.set('huge', new Uint8Array(1), 1_000)
    await small.set('huge', new Uint8Array(101), 1_000)
    expect([await has(small, 'a'), await has(small, 'b'), await has(small, 'huge')]).toEqual([
      true,
      true,
      false,
    ])
    await small.set('c', new Uint8Array(40), 1_000)
    expect([await has(small, 'a'), await has(small, 'b'), await has(small, 'c')]).toEqual([false, true, true])
  })

  it('never push out what is owed', async () => {
    for (const store of [createMemoryAnswers({}, clock), createMemoryAnswers({ answersMax: 2 }, clock)]) {
      await store.set('debt', new Uint8Array(1_000), answerLimits.owedMs)
      for (let i = 0; i < 70; i++) await store.set(`${i}`, new Uint8Array(1_048_576), answerLimits.keptMs)
      expect([await has(store, 'debt'), await has(store, '0'), await has(store, '69')]).toEqual([
        true,
        false,
        true,
      ])
    }
  })

  it('end in their own time, also behind one that is kept for longer', async () => {
    let nowMs = 0
    const store = createMemoryAnswers({ bytesMax: 100 }, { now: () => nowMs })
    await store.set('long', new Uint8Array(1), 1_000_000)
    await store.set('short', new Uint8Array(1), 1_000)
    nowMs = 1_000
    expect([await has(store, 'long'), await has(store, 'short')]).toEqual([true, false])
  })
})
