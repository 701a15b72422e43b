import { createRequire } from 'node:module'
import { Headers } from '@svc-zerc20/protocol'
import type { PaymentRequired } from '@x402/core/types'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { burnTx, inOrder, refused, startFacilitator, type TestFacilitator } from '../../test/facilitator.js'
import { type GatedShop, openExpress, openHono } from '../../test/gated-shops.js'
import { sendRaw } from '../../test/raw-request.js'
import { offerOf, paying, paymentFor, schemeFor } from '../../test/shop.js'
import { limits, sellOnNext } from '../index.js'

// Outside a bundler only the CommonJS build of the next adapter finds `next/server`.
const require = createRequire(import.meta.url)
const { withX402FromHTTPServer } = require('@x402/next') as typeof import('@x402/next')
const { NextRequest, NextResponse } = require('next/server') as typeof import('next/server.js')

let facilitator: TestFacilitator
beforeAll(async () => {
  facilitator = await startFacilitator()
})
beforeEach(() => facilitator.reset())
afterAll(() => facilitator.close())

const verbs = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'QUERY',
  'PROPFIND',
  'M-SEARCH',
]
/** Spellings of one path that a router may treat as the same route. */
const spellings: ((path: string) => string)[] = [
  (path) => path,
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => `/${path}`,
  (path) => path.toUpperCase(),
  (path) => `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`,
  (path) => `${path.slice(0, -1)}%${path.charCodeAt(path.length - 1).toString(16)}`,
  (path) => `${path}%2f`,
  (path) => `${path}%00`,
  (path) => `${path}?a=1`,
  (path) => `${path}?_method=GET`,
  (path) => `${path};a=b`,
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
  (path) => `${path}/.`,
  (path) => `${path}/deeper`,
  (path) => `${path}\\`,
  (path) => `http://other.example${path}`,
]
const places = ['/get', '/all', '/use', '/api/get', '/before', '/after', '/by/7']
/** The request parts that method-override middlewares read. */
const overridesOf = (method: string) =>
  method === 'POST' ? [{}, { 'x-http-method-override': 'GET' }, { 'x-http-method-override': 'HEAD' }] : [{}]

const offerIn = (headers: { [name: string]: unknown }) => {
  const decoded = Headers.decode(String(headers['payment-required']))
  if (!decoded.ok) throw new Error('no offer')
  return offerOf(decoded.value as PaymentRequired)
}

describe.each([
  ['express', openExpress],
  ['hono', openHono],
])('a handler sold on %s', (_, open) => {
  let shop: GatedShop
  beforeAll(async () => {
    shop = await open(schemeFor(facilitator.url), {}, { clientLimits: 'unlimited' })
  })
  afterAll(() => shop.close())

  it.each(places)('at %s never runs unpaid: every verb, every spelling, every override', async (place) => {
    const before = shop.served()
    for (const method of verbs) {
      for (const spell of spellings) {
        for (const headers of overridesOf(method)) {
          const answer = await sendRaw(shop.url, { method, target: spell(place), headers })
          const told = `${method} ${spell(place)} ${JSON.stringify(headers)}: ${answer.status}`
          expect(told).toMatch(method === 'OPTIONS' ? /: (200|204|4\d\d)$/ : /: [45]\d\d$/)
          expect(JSON.stringify(answer)).not.toContain('secret')
          expect(shop.served(), told).toBe(before)
        }
      }
    }
  })

  it.each(places)('at %s is served to whoever pays for it', async (place) => {
    const target = place === '/use' ? '/use/x' : place
    const before = shop.served()
    const unpaid = await sendRaw(shop.url, { method: 'GET', target })
    expect(unpaid.status).toBe(402)
    const { headers } = paying(paymentFor(offerIn(unpaid.headers)))
    const paid = await sendRaw(shop.url, { method: 'GET', target, headers })
    expect(paid.status).toBe(200)
    expect(JSON.parse(paid.body)).toHaveProperty('bought')
    expect(paid.headers).toHaveProperty('payment-response')
    expect(shop.served()).toBe(before + 1)
  })

  it.each(places)(
    'at %s answers an unpaid HEAD with 402, no offer and no call to the facilitator',
    async (place) => {
      const answer = await sendRaw(shop.url, { method: 'HEAD', target: place === '/use' ? '/use/x' : place })
      expect(answer.status).toBe(402)
      expect(answer.headers).not.toHaveProperty('payment-required')
      expect(answer.headers['cache-control']).toContain('no-store')
      expect(facilitator.calls).toEqual([])
    },
  )

  it('takes a header that is no payment for none, and writes nothing about it to the log', async () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    try {
      for (const junk of ['junk!', 'aaaa', Buffer.from('5').toString('base64'), 'A'.repeat(9_000)]) {
        const headers = { [Headers.paymentSignature]: junk }
        const answer = await sendRaw(shop.url, { method: 'GET', target: '/get', headers })
        expect(answer.status).toBe(402)
        expect(JSON.parse(answer.body)).toMatchObject({ reason: 'payment_required' })
      }
      expect(warned).not.toHaveBeenCalled()
    } finally {
      warned.mockRestore()
    }
  })

  it('takes no payment for a HEAD: it stays good for the GET', async () => {
    const unpaid = await sendRaw(shop.url, { method: 'GET', target: '/get' })
    const { headers } = paying(paymentFor(offerIn(unpaid.headers)))
    facilitator.forget()
    expect((await sendRaw(shop.url, { method: 'HEAD', target: '/get', headers })).status).toBe(402)
    expect(facilitator.calls).toEqual([])
    expect((await sendRaw(shop.url, { method: 'GET', target: '/get', headers })).status).toBe(200)
  })

  it('answers verbs that are not sold with 405 and what is allowed, and a preflight without running', async () => {
    for (const method of ['POST', 'DELETE', 'QUERY']) {
      const answer = await sendRaw(shop.url, { method, target: '/all' })
      expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, OPTIONS'])
      expect(JSON.parse(answer.body)).toMatchObject({ reason: 'method_not_allowed' })
    }
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
    const preflight = await sendRaw(shop.url, { method: 'OPTIONS', target: '/all', headers })
    expect([preflight.status, preflight.headers.allow, preflight.body]).toEqual([204, 'GET, OPTIONS', ''])
    expect(facilitator.calls).toEqual([])
  })

  it('sells the verbs it is told to, and lets those through that are declared free', async () => {
    const other = await open(
      schemeFor(facilitator.url),
      { methods: ['POST', 'GET'], free: ['HEAD', 'OPTIONS'] },
      { clientLimits: 'unlimited' },
    )
    try {
      const unpaid = await sendRaw(other.url, { method: 'POST', target: '/all' })
      expect(unpaid.status).toBe(402)
      const { headers } = paying(paymentFor(offerIn(unpaid.headers)))
      // Sealed for POST: it does not buy a GET.
      expect((await sendRaw(other.url, { method: 'GET', target: '/all', headers })).status).toBe(402)
      expect(other.served()).toBe(0)
      expect((await sendRaw(other.url, { method: 'POST', target: '/all', headers })).status).toBe(200)
      expect((await sendRaw(other.url, { method: 'HEAD', target: '/all' })).status).toBe(200)
      expect((await sendRaw(other.url, { method: 'OPTIONS', target: '/all' })).status).toBe(200)
      expect((await sendRaw(other.url, { method: 'PUT', target: '/all' })).headers.allow).toBe(
        'POST, GET, HEAD, OPTIONS',
      )
      expect(other.served()).toBe(3)
    } finally {
      await other.close()
    }
  })

  it('does not take an offer of one router for the same path of another', async () => {
    const unpaid = await sendRaw(shop.url, { method: 'GET', target: '/api/get' })
    const { headers } = paying(paymentFor(offerIn(unpaid.headers)))
    expect((await sendRaw(shop.url, { method: 'GET', target: '/get', headers })).status).toBe(402)
    expect((await sendRaw(shop.url, { method: 'GET', target: '/api/get', headers })).status).toBe(200)
  })

  it('says in the body why there was nothing: the reason, a sentence, what to do, and the burn', async () => {
    const unpaid = await sendRaw(shop.url, { method: 'GET', target: '/get' })
    expect(JSON.parse(unpaid.body)).toEqual({
      reason: 'payment_required',
      error: 'This resource is sold.',
      action: expect.stringContaining('PAYMENT-REQUIRED'),
    })
    const payment = paymentFor(offerIn(unpaid.headers))
    const { headers } = paying(payment)
    facilitator.script.verify = () => ({
      body: { isValid: false, invalidReason: 'challenge_expired', invalidMessage: 'It ended 5 s ago.' },
    })
    const expired = await sendRaw(shop.url, { method: 'GET', target: '/get', headers })
    expect(expired.status).toBe(402)
    expect(offerIn(expired.headers).payTo).not.toBe(payment.accepted.payTo)
    expect(JSON.parse(expired.body)).toEqual({
      reason: 'challenge_expired',
      error: 'It ended 5 s ago.',
      action: expect.stringContaining('new offer'),
      transaction: `0x${'cd'.repeat(32)}`,
    })
    facilitator.reset()
    facilitator.script.settle = () => ({ body: refused('already_accepted', burnTx) })
    const used = await sendRaw(shop.url, { method: 'GET', target: '/get', headers })
    expect(used.status).toBe(402)
    expect(used.headers).toHaveProperty('payment-response')
    expect(JSON.parse(used.body)).toMatchObject({
      reason: 'already_accepted',
      error: 'The burn was accepted and its one grant was used.',
      transaction: burnTx,
    })
    const tampered = paying({ ...payment, accepted: { ...payment.accepted, amount: '1' } })
    const changed = await sendRaw(shop.url, { method: 'GET', target: '/get', ...tampered })
    expect(JSON.parse(changed.body)).toMatchObject({ reason: 'offer_mismatch' })
  })

  it('gives 502 while the facilitator is away, also at the start, and sells when it is back', async () => {
    const passing = await startFacilitator()
    await passing.close()
    const early = await open(schemeFor(passing.url), {}, { clientLimits: 'unlimited' })
    const ask = () => sendRaw(early.url, { method: 'GET', target: '/get' })
    const answer = await ask()
    expect(answer.status).toBe(502)
    expect(JSON.parse(answer.body)).toMatchObject({
      reason: 'facilitator_unavailable',
      error: 'the facilitator gave no answer to supported',
    })
    const late = await startFacilitator(passing.port)
    try {
      expect((await ask()).status).toBe(402)
      late.script.challenge = () => ({
        status: 503,
        headers: { 'retry-after': '9' },
        body: { error: 'Paused: moving house.', reason: 'issuance_paused' },
      })
      const paused = await ask()
      expect([paused.status, paused.headers['retry-after']]).toEqual([502, '9'])
      expect(JSON.parse(paused.body)).toMatchObject({
        reason: 'issuance_paused',
        error: expect.stringContaining('Paused: moving house.'),
      })
    } finally {
      await early.close()
      await late.close()
    }
  })

  it('asks again when a verify got no answer, and says when to come back when none comes', async () => {
    const unpaid = await sendRaw(shop.url, { method: 'GET', target: '/get' })
    const payment = paying(paymentFor(offerIn(unpaid.headers)))
    const present = () => sendRaw(shop.url, { method: 'GET', target: '/get', ...payment })
    facilitator.script.verify = () => 'drop'
    const lost = await present()
    expect([lost.status, Number(lost.headers['retry-after']) > 0]).toEqual([502, true])
    expect(lost.headers).not.toHaveProperty('payment-required')
    expect(facilitator.counts().verify).toBe(1 + limits.verifyPausesMs.length)
    facilitator.forget()
    facilitator.script.verify = inOrder('drop', 'drop', { body: { isValid: true } })
    expect((await present()).status).toBe(200)
    expect(facilitator.counts()).toMatchObject({ verify: 3, settle: 1 })
    facilitator.script.verify = () => ({
      status: 503,
      body: { error: 'busy' },
      headers: { 'retry-after': '7' },
    })
    const other = paying(
      paymentFor(offerIn((await sendRaw(shop.url, { method: 'GET', target: '/get' })).headers)),
    )
    facilitator.forget()
    const busy = await sendRaw(shop.url, { method: 'GET', target: '/get', ...other })
    expect([busy.status, busy.headers['retry-after']]).toEqual([502, '7'])
    expect(facilitator.counts().verify).toBe(1)
  })

  it('ends in 502 too when a settle stays without an answer', async () => {
    const impatient = await open(
      schemeFor(facilitator.url, { limits: { recoveryPausesMs: [] } }),
      {},
      { clientLimits: 'unlimited' },
    )
    try {
      const unpaid = await sendRaw(impatient.url, { method: 'GET', target: '/get' })
      facilitator.script.settle = () => 'drop'
      const answer = await sendRaw(impatient.url, {
        method: 'GET',
        target: '/get',
        ...paying(paymentFor(offerIn(unpaid.headers))),
      })
      expect([answer.status, answer.headers['retry-after']]).toEqual([502, '5'])
      expect(JSON.parse(answer.body).action).toContain('do not pay again')
      expect(answer.body).not.toContain('bought')
    } finally {
      await impatient.close()
    }
  })
})

describe('a handler sold on next', () => {
  let served = 0
  const handler = async (
    request: InstanceType<typeof NextRequest>,
    context: { params: Promise<{ id: string }> },
  ) => {
    served += 1
    return NextResponse.json({ bought: request.nextUrl.pathname, ...(await context.params) })
  }
  const open = () =>
    sellOnNext(schemeFor(facilitator.url), withX402FromHTTPServer, { clientLimits: 'unlimited' })(
      { price: '100' },
      handler,
    )
  const context = { params: Promise.resolve({ id: '7' }) }
  const request = (method: string, headers: Record<string, string> = {}, path = '/by/7') =>
    new NextRequest(`http://127.0.0.1${path}`, { method, headers })
  afterEach(() => {
    served = 0
  })

  it('never runs unpaid, whatever verb the framework hands it', async () => {
    const route = open()
    for (const method of verbs.filter((verb) => verb !== 'TRACE')) {
      const response = await route(request(method), context)
      const expected = { GET: 402, HEAD: 402, OPTIONS: 204 }[method] ?? 405
      expect([method, response.status]).toEqual([method, expected])
      expect(response.headers.has('payment-required')).toBe(method === 'GET')
    }
    expect(served).toBe(0)
    expect(facilitator.counts().challenge).toBe(1)
  })

  it('runs with its parameters for whoever pays', async () => {
    const route = open()
    const unpaid = await route(request('GET'), context)
    const offer = offerIn(Object.fromEntries(unpaid.headers))
    const paid = await route(request('GET', paying(paymentFor(offer)).headers), context)
    expect(paid.status).toBe(200)
    expect(await paid.json()).toEqual({ bought: '/by/7', id: '7' })
    expect(paid.headers.has('payment-response')).toBe(true)
    expect(served).toBe(1)
  })

  it('gives 502 while the facilitator is away, with whatever copy of the official core', async () => {
    facilitator.script.challenge = () => 'drop'
    const response = await open()(request('GET'), context)
    expect(response.status).toBe(502)
    expect((await response.json()).error).toContain('no answer to challenge')
  })
})

describe('a gate that is set up wrongly', () => {
  it.each([
    { methods: [] },
    { methods: ['HEAD'] },
    { methods: ['get'] },
    { methods: ['GET'], free: ['GET'] },
  ])('fails at once for %o', async (terms) => {
    await expect(openExpress(schemeFor(facilitator.url), terms)).rejects.toMatchObject({
      code: 'invalid_method',
    })
  })

  it('fails for a server that does not know the scheme', async () => {
    const { x402ResourceServer } = await import('@x402/core/server')
    const server = new x402ResourceServer(schemeFor(facilitator.url).facilitatorClient)
    await expect(openExpress(schemeFor(facilitator.url), {}, { server })).rejects.toMatchObject({
      code: 'scheme_not_registered',
    })
  })
})
