import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { Headers } from '@svc-zerc20/protocol'
import type { PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { accepted, refused, startFacilitator, type TestFacilitator } from '../../test/facilitator.js'
import { openExpress, openHono } from '../../test/gated-shops.js'
import { type RawAnswer, sendRaw } from '../../test/raw-request.js'
import { offerOf, paying, paymentFor, schemeFor } from '../../test/shop.js'
import { clientLimits, type GateOptions, limits, type PaidSale, sellOnNext } from '../index.js'
import { awaitedLimits, refusalsKeptMs, supportedPerMinute } from '../limits.js'
import { createRefusedPresentations, type Presented } from './refused-presentations.js'

// Outside a bundler only the CommonJS build of the next adapter finds `next/server`.
const require = createRequire(import.meta.url)
const { withX402FromHTTPServer } = require('@x402/next') as typeof import('@x402/next')
const { NextRequest, NextResponse } = require('next/server') as typeof import('next/server.js')

let nowMs = 1_000_000
const clock = { now: () => nowMs, sleep: async () => {} }
const { unpaidPerMinute, payingPerMinute, refusedPerMinute, refusedPerOfferPerMinute } = clientLimits
const { unacceptedPerMinute, resendsPerMinute } = clientLimits

describe('refused presentations', () => {
  const create = (changed: Partial<typeof clientLimits> | object = {}) =>
    createRefusedPresentations({ ...clientLimits, ...changed }, clock)
  const presented = (offer: number, payload: unknown = {}): Presented => ({
    challengeNonce: `0x${offer}`,
    payload,
  })
  const isOpen = (refusals: ReturnType<typeof create>, client: string, payment: Presented) => {
    try {
      refusals.check(client, payment)
      return true
    } catch {
      return false
    }
  }

  it('and offers together leave a seller that its facilitator does not know a part of its rate', () => {
    expect(unpaidPerMinute + refusedPerMinute).toBeLessThan(20)
    // A verify and a settle each.
    const looks = unacceptedPerMinute + 60_000 / awaitedLimits.everyMs
    expect(unpaidPerMinute + 2 * looks + resendsPerMinute).toBeLessThan(120)
  })

  it.each(['unknown_challenge', 'invalid_signature', 'burn_mismatch', 'word of another facilitator'])(
    'are counted when the reason is %s, and come back evenly',
    (reason) => {
      const refusals = create()
      for (let i = 0; i < refusedPerOfferPerMinute; i++) {
        refusals.check('a', presented(1))
        refusals.note('a', presented(1), reason)
      }
      const waits = { retryAfterSeconds: 60 / refusedPerOfferPerMinute, of: 'refused_payments' }
      expect(() => refusals.check('a', presented(1))).toThrowError(expect.objectContaining(waits))
      expect(isOpen(refusals, 'a', presented(2))).toBe(true)
      expect(isOpen(refusals, 'b', presented(1))).toBe(false)
      expect(isOpen(refusals, 'b', presented(2))).toBe(true)
      nowMs += waits.retryAfterSeconds * 1_000
      expect(isOpen(refusals, 'a', presented(1))).toBe(true)
    },
  )

  it('are not counted when the facilitator speaks of itself, nor for the payload that is to come again', () => {
    const refusals = create()
    for (let i = 0; i < 100; i++) {
      refusals.note('a', presented(1, i), 'too_many_requests')
      refusals.note('a', presented(1, 'honest'), 'burn_not_found')
      refusals.note('a', presented(1, 'honest'), 'pending_burn')
    }
    expect(isOpen(refusals, 'a', presented(1, 'other'))).toBe(true)
    for (let i = 0; i < 100; i++) refusals.note('a', presented(1, i), 'burn_not_found')
    expect(isOpen(refusals, 'a', presented(1, 'other'))).toBe(false)
    expect(isOpen(refusals, 'a', presented(1, 'honest'))).toBe(true)
  })

  it('leave the payload that was to come again no privilege once it is refused for good', () => {
    const refusals = create()
    refusals.note('a', presented(1), 'burn_not_found')
    for (let i = 0; i < refusedPerOfferPerMinute; i++) refusals.note('a', presented(1), 'burn_mismatch')
    expect(isOpen(refusals, 'a', presented(1))).toBe(false)
  })

  it('let a payload wait its turn after one that was refused for good, as a payer does that changes its way', () => {
    const refusals = create()
    refusals.note('a', presented(1, 'permit'), 'permit_not_offered')
    for (let i = 0; i < 100; i++) {
      refusals.check('a', presented(1, 'transfer'))
      refusals.note('a', presented(1, 'transfer'), 'burn_not_found')
    }
  })

  it('are remembered for a bounded number of clients and offers, and for a bounded time', () => {
    const refusals = create({ clientsMax: 5, offersMax: 20 })
    const offend = (client: string) => {
      for (let i = 0; i < 2 * refusedPerMinute; i++) refusals.note(client, presented(i), 'burn_mismatch')
    }
    offend('a')
    expect(isOpen(refusals, 'a', presented(100))).toBe(false)
    for (let i = 0; i < 4; i++) offend(`b ${i}`)
    expect(isOpen(refusals, 'a', presented(100))).toBe(false)
    offend('c')
    expect(isOpen(refusals, 'a', presented(100))).toBe(true)
    for (let i = 0; i < 100; i++) refusals.note('d', presented(1), 'burn_mismatch')
    expect(isOpen(refusals, 'd', presented(1))).toBe(false)
    nowMs += refusalsKeptMs
    offend('e')
    expect(isOpen(refusals, 'd', presented(1))).toBe(true)
  })
})

type Ask = (client: string, payment?: unknown) => Promise<RawAnswer>
type Opened = { readonly ask: Ask; close?(): Promise<void> }
type Open = (url: string, sale: Partial<PaidSale>, options: GateOptions<never>) => Promise<Opened>

const headersOf = (client: string, payment?: unknown) => ({
  'x-client': client,
  ...(payment !== undefined && paying(payment).headers),
})
const overSocket =
  (open: typeof openExpress): Open =>
  async (url, sale, options) => {
    const shop = await open(schemeFor(url, { clock }), sale, options)
    const ask: Ask = (client, payment) =>
      sendRaw(shop.url, { method: 'GET', target: '/get', headers: headersOf(client, payment) })
    return { ask, close: shop.close }
  }
const openNext: Open = async (url, sale, options) => {
  const sell = sellOnNext(schemeFor(url, { clock }), withX402FromHTTPServer, options as never)
  const handle = sell({ price: '100', ...sale }, async () => NextResponse.json({ bought: '/get' }))
  const route = handle as unknown as (request: object, context: object) => Promise<Response>
  return {
    async ask(client, payment) {
      const headers = headersOf(client, payment)
      const response = await route(new NextRequest('http://127.0.0.1/get', { headers }), {})
      const { status } = response
      return { status, headers: Object.fromEntries(response.headers), body: await response.text() }
    },
  }
}
/** As a seller reads what its proxy wrote, in each framework. */
const client = (asked: unknown) => {
  const { req, headers } = asked as {
    req?: { header?: (name: string) => string }
    headers: { get?: (name: string) => string } & Record<string, string>
  }
  return req?.header?.('x-client') ?? headers.get?.('x-client') ?? headers['x-client']
}

describe.each([
  ['express', overSocket(openExpress)],
  ['hono', overSocket(openHono)],
  ['next', openNext],
])('junk payments at the gate of %s', (_, open) => {
  let facilitator: TestFacilitator
  const opened: Opened[] = []
  beforeAll(async () => {
    facilitator = await startFacilitator()
  })
  afterEach(async () => {
    nowMs += 3_600_000
    facilitator.reset()
    await Promise.all(opened.splice(0).map((shop) => shop.close?.()))
  })
  afterAll(() => facilitator.close())

  async function start(sale: Partial<PaidSale> = {}): Promise<Ask> {
    const shop = await open(facilitator.url, sale, { clock, client })
    opened.push(shop)
    return shop.ask
  }
  const offerIn = ({ headers }: RawAnswer) => {
    const decoded = Headers.decode(String(headers['payment-required']))
    if (!decoded.ok) throw new Error('no offer')
    return offerOf(decoded.value as PaymentRequired)
  }
  const junkFor = (offer: PaymentRequirements) => {
    const payment = paymentFor(offer)
    const burnTxHash = `0x${randomBytes(32).toString('hex')}`
    return { ...payment, payload: { ...payment.payload, burnTxHash } }
  }
  const sayNo = (reason: string) => {
    facilitator.script.verify = () => ({ body: { isValid: false, invalidReason: reason } })
    facilitator.script.settle = () => ({ body: refused(reason) })
  }
  const sayYes = () => facilitator.reset()
  const asked = () => facilitator.counts().verify + facilitator.counts().settle
  function expectTurnedAway({ status, headers, body }: RawAnswer) {
    expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true])
    expect(headers).not.toHaveProperty('payment-required')
    expect(JSON.parse(body)).toEqual({
      reason: 'too_many_requests',
      error: 'Too many payments of yours were refused; nobody has looked at this one.',
      action: `Present the same payment again after ${headers['retry-after']} s. Do not pay a second time.`,
    })
  }

  it.each([
    ['invalid_signature', false],
    ['burn_not_found', false],
    ['invalid_signature', true],
    ['burn_mismatch', true],
  ])('R-173 %s, upfront %s: one offer brings a few of them to the facilitator', async (reason, upfront) => {
    const ask = await start({ upfront })
    const offer = offerIn(await ask('stranger'))
    const honest = paymentFor(offerIn(await ask('honest')))
    sayNo(reason)
    const answers: RawAnswer[] = []
    for (let i = 0; i < 30; i++) answers.push(await ask('stranger', junkFor(offer)))
    const awaited = reason === 'burn_not_found' ? 1 : 0
    expect(asked()).toBe(refusedPerOfferPerMinute + awaited)
    expect(answers.slice(0, asked()).map(({ status }) => status)).toEqual(Array(asked()).fill(402))
    for (const answer of answers.slice(asked())) expectTurnedAway(answer)
    sayYes()
    expect((await ask('honest', honest)).status).toBe(200)
    nowMs += (60 / refusedPerOfferPerMinute) * 1_000
    expect((await ask('stranger', paymentFor(offer))).status).toBe(200)
  })

  it('R-173 many offers bring no more than one client may have refused, and nobody else waits', async () => {
    const ask = await start()
    const offers: PaymentRequirements[] = []
    for (let i = 0; i < unpaidPerMinute; i++) offers.push(offerIn(await ask('stranger')))
    const honest = paymentFor(offerIn(await ask('honest')))
    sayNo('unknown_challenge')
    facilitator.forget()
    for (let i = 0; i < 5; i++) for (const offer of offers) await ask('stranger', junkFor(offer))
    expect(facilitator.counts()).toMatchObject({ verify: refusedPerMinute, challenge: 0 })
    sayYes()
    expect((await ask('honest', honest)).status).toBe(200)
  })

  it('those that come all at once for one offer are looked at one after the other', async () => {
    const ask = await start()
    const offer = offerIn(await ask('stranger'))
    sayNo('burn_mismatch')
    await Promise.all(Array.from({ length: payingPerMinute }, () => ask('stranger', junkFor(offer))))
    expect(asked()).toBeLessThanOrEqual(refusedPerOfferPerMinute)
  })

  it('those that come all at once for many offers leave a debt, and their client waits for it', async () => {
    const ask = await start()
    const offers: PaymentRequirements[] = []
    for (let i = 0; i < unpaidPerMinute; i++) offers.push(offerIn(await ask('stranger')))
    nowMs += 60_000
    const fresh = offerIn(await ask('stranger'))
    sayNo('burn_mismatch')
    await Promise.all(offers.map((offer) => ask('stranger', junkFor(offer))))
    const atOnce = asked()
    expect(atOnce).toBeGreaterThanOrEqual(refusedPerMinute)
    const secondsInDebt = ((atOnce - refusedPerMinute) * 60) / refusedPerMinute
    nowMs += secondsInDebt * 1_000
    expectTurnedAway(await ask('stranger', junkFor(fresh)))
    expect(asked()).toBe(atOnce)
  })

  it('an honest payer sends the same payment as often as before, and is served when its burn is there', async () => {
    const ask = await start()
    const offer = offerIn(await ask('honest'))
    const payment = junkFor(offer)
    sayNo('burn_not_found')
    for (let i = 0; i < payingPerMinute - 1; i++) {
      const answer = await ask('honest', payment)
      expect(JSON.parse(answer.body)).toMatchObject({ reason: 'burn_not_found' })
      nowMs += 60_000 / unacceptedPerMinute
    }
    expect(asked()).toBe(payingPerMinute - 1)
    sayYes()
    expect((await ask('honest', payment)).status).toBe(200)
  })

  it('an honest payer behind the address of a stranger gets through with what it was told to send again', async () => {
    const ask = await start()
    const [payment, offer] = [junkFor(offerIn(await ask('shared'))), offerIn(await ask('shared'))]
    sayNo('burn_not_found')
    await ask('shared', payment)
    for (let i = 0; i < 20; i++) await ask('shared', junkFor(offer))
    sayYes()
    expectTurnedAway(await ask('shared', junkFor(offer)))
    expect((await ask('shared', payment)).status).toBe(200)
  })

  it('a burn that is awaited gets its turn, however much else of its address is awaited', async () => {
    const ask = await start()
    const [burned, ...made] = [1, 2, 3, 4].map(() => ask('shared'))
    const awaited = junkFor(offerIn(await (burned as Promise<RawAnswer>)))
    const junk = await Promise.all(made.map(async (offer) => junkFor(offerIn(await offer))))
    sayNo('burn_not_found')
    await ask('shared', awaited)
    for (let i = 0; i < unacceptedPerMinute; i++) await ask('shared', junk[i % junk.length])
    facilitator.script.verify = ({ body }) => {
      const { paymentPayload } = body as { paymentPayload: typeof awaited }
      const isValid = paymentPayload.payload.burnTxHash === awaited.payload.burnTxHash
      return { body: { isValid, ...(!isValid && { invalidReason: 'burn_not_found' }) } }
    }
    facilitator.script.settle = () => ({ body: accepted })
    facilitator.forget()
    const turnsEndMs = nowMs + 2 * junk.length * awaitedLimits.everyMs
    let status = 429
    while (status === 429 && nowMs <= turnsEndMs) {
      // More than there is for free, and always before the payer.
      for (const each of junk) await ask('shared', each)
      status = (await ask('shared', awaited)).status
      nowMs += 1_500
    }
    expect(status).toBe(200)
  })

  it('those that ended without a verdict are not counted', async () => {
    const ask = await start()
    const payment = junkFor(offerIn(await ask('honest')))
    facilitator.script.verify = () => 'drop'
    for (let i = 0; i <= unacceptedPerMinute; i++) await ask('honest', payment)
    sayNo('overloaded')
    for (let i = 0; i <= unacceptedPerMinute; i++) await ask('honest', payment)
    sayYes()
    expect((await ask('honest', payment)).status).toBe(200)
  })

  it('settles that are tried again take a share too: one client brings no multitude of them', async () => {
    const ask = await start({ upfront: true })
    const payment = junkFor(offerIn(await ask('stranger')))
    sayNo('burn_not_found')
    for (let i = 0; i < unacceptedPerMinute; i++) {
      const answer = await ask('stranger', payment)
      expect(JSON.parse(answer.body)).toMatchObject({ reason: 'burn_not_found' })
    }
    await ask('stranger', payment)
    expectTurnedAway(await ask('stranger', payment))
    expect(limits.recoveryPausesMs.length).toBeGreaterThan(1)
    expect(facilitator.counts().settle).toBe(unacceptedPerMinute + 1 + resendsPerMinute)
  })

  it('R-173 a made-up burn for each of many offers, sent again and again, leaves others the seller’s rate', async () => {
    const ask = await start()
    const made: unknown[] = []
    for (let i = 0; i < unpaidPerMinute; i++) made.push(junkFor(offerIn(await ask('stranger'))))
    const honest = paymentFor(offerIn(await ask('honest')))
    sayNo('burn_not_found')
    for (let i = 0; i < 12; i++) for (const payment of made) await ask('stranger', payment)
    expect(asked()).toBe(unacceptedPerMinute + 1)
    expectTurnedAway(await ask('stranger', made[0]))
    sayYes()
    expect((await ask('honest', honest)).status).toBe(200)
    nowMs += 60_000 / unacceptedPerMinute
    expect((await ask('stranger', made[0])).status).toBe(200)
  })

  it('a facilitator that cannot be used is asked what it supports a bounded number of times, whoever asks', async () => {
    facilitator.script.supported = () => ({ status: 503, body: { error: 'starting' } })
    const ask = await start()
    for (let i = 0; i < 2 * supportedPerMinute; i++) expect((await ask(`stranger ${i}`)).status).toBe(502)
    const { calls } = facilitator
    expect(calls.map(({ path }) => path)).toEqual(Array(supportedPerMinute).fill('/supported'))
    sayYes()
    nowMs += 60_000 / supportedPerMinute
    expect((await ask('honest')).status).toBe(402)
  })

  it('a facilitator that failed once at the start is asked again by the very next request', async () => {
    const usual = facilitator.script.supported
    let isFirst = true
    facilitator.script.supported = (call) => {
      const answer = isFirst ? 'drop' : usual(call)
      isFirst = false
      return answer
    }
    const ask = await start()
    const statuses = [(await ask('honest')).status, (await ask('honest')).status]
    expect(statuses[1]).toBe(402)
  })
})

it('R-173 a good payment for what is not there costs nothing, and so cannot be presented without end', async () => {
  const facilitator = await startFacilitator()
  try {
    const sell = sellOnNext(schemeFor(facilitator.url, { clock }), withX402FromHTTPServer, {
      client,
      clock,
    } as never)
    const handle = sell({ price: '100' }, async () => new NextResponse(null, { status: 404 }))
    const route = handle as unknown as (request: object, context: object) => Promise<Response>
    const ask = (payment?: unknown) =>
      route(new NextRequest('http://127.0.0.1/none', { headers: headersOf('stranger', payment) }), {})
    const statuses: number[] = []
    for (let i = 0; i < unpaidPerMinute; i++) {
      const decoded = Headers.decode((await ask()).headers.get('payment-required'))
      const payment = decoded.ok && paymentFor(offerOf(decoded.value as PaymentRequired))
      for (let j = 0; j < 12; j++) statuses.push((await ask(payment)).status)
    }
    expect(statuses.filter((status) => status === 404)).toHaveLength(unacceptedPerMinute)
    expect(facilitator.counts()).toMatchObject({ verify: unacceptedPerMinute, settle: 0 })
  } finally {
    await facilitator.close()
  }
})
