import { Headers } from '@svc-zerc20/protocol'
import type { PaymentRequired } from '@x402/core/types'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startFacilitator, type TestFacilitator } from '../../test/facilitator.js'
import { type GatedShop, openExpress, openHono } from '../../test/gated-shops.js'
import { type RawAnswer, sendRaw } from '../../test/raw-request.js'
import { offerOf, paying, paymentFor, schemeFor } from '../../test/shop.js'
import { clientLimits, type GateOptions } from '../index.js'
import { clientKey, createClientCounts } from './client-limits.js'

let nowMs = 1_000_000
const clock = { now: () => nowMs, sleep: async () => {} }

describe('a share of one client', () => {
  const { unpaidPerMinute, payingPerMinute } = clientLimits
  const countOf = (take: (client: string) => void, client: string, tries = 100) => {
    let granted = 0
    for (let i = 0; i < tries; i++) {
      try {
        take(client)
        granted += 1
      } catch {}
    }
    return granted
  }

  it('is below what a facilitator gives a seller it does not know', () => {
    expect(unpaidPerMinute).toBeLessThan(20)
  })

  it('ends after a minute of requests at once, and comes back evenly, for each client on its own', () => {
    const { takeOffer, takeUnsealed, takeSealed } = createClientCounts({}, clock)
    expect(countOf(takeOffer, 'a')).toBe(unpaidPerMinute)
    expect(() => takeOffer('a')).toThrowError(expect.objectContaining({ retryAfterSeconds: 6 }))
    expect(countOf(takeOffer, 'b')).toBe(unpaidPerMinute)
    expect(countOf(takeUnsealed, 'a')).toBe(payingPerMinute)
    expect(countOf(takeSealed, 'a')).toBe(payingPerMinute)
    nowMs += 6_000
    expect(countOf(takeOffer, 'a')).toBe(1)
    nowMs += 3_600_000
    expect(countOf(takeOffer, 'a')).toBe(unpaidPerMinute)
    nowMs -= 3_600_000
    expect(countOf(takeOffer, 'a')).toBe(0)
  })

  it('stays a share when a flood of addresses comes: newcomers have one together, known clients keep theirs', () => {
    const { takeOffer } = createClientCounts({ clientsMax: 50 }, clock)
    for (let i = 0; i < 50; i++) takeOffer(`known ${i}`)
    let granted = 0
    for (let i = 0; i < 5_000; i++) granted += countOf(takeOffer, `flood ${i}`, 1)
    expect(granted).toBe(unpaidPerMinute)
    expect(countOf(takeOffer, 'known 7')).toBe(unpaidPerMinute - 1)
    nowMs += 61_000
    expect(countOf(takeOffer, 'newcomer')).toBe(unpaidPerMinute)
  })

  it('of sealed offers forgets the oldest of too many, because nobody can make one up', () => {
    const { takeSealed } = createClientCounts({ offersMax: 5 }, clock)
    for (let i = 0; i < 50; i++) expect(countOf(takeSealed, `offer ${i}`)).toBe(payingPerMinute)
    expect(countOf(takeSealed, 'offer 49')).toBe(0)
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('of %d is a mistake named at once', (value) => {
    expect(() => createClientCounts({ unpaidPerMinute: value }, clock)).toThrowError(
      expect.objectContaining({ code: 'invalid_client_limits' }),
    )
  })

  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:DB8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
    ['2001:db8::1:0:0:2', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['customer 7', 'customer 7'],
    ['x'.repeat(500), 'x'.repeat(128)],
  ])('counts %s as %s', (client, key) => {
    expect(clientKey(client)).toBe(key)
  })
})

describe.each([
  ['express', openExpress],
  ['hono', openHono],
])('the gate of %s', (_, open) => {
  let facilitator: TestFacilitator
  const opened: GatedShop[] = []
  beforeAll(async () => {
    facilitator = await startFacilitator()
  })
  afterEach(async () => {
    facilitator.reset()
    await Promise.all(opened.splice(0).map((shop) => shop.close()))
  })
  afterAll(() => facilitator.close())

  async function start(options: GateOptions<never> = {}) {
    const shop = await open(schemeFor(facilitator.url), {}, { clock, ...options })
    opened.push(shop)
    const get = (headers: Record<string, string> = {}) =>
      sendRaw(shop.url, { method: 'GET', target: '/get', headers })
    const many = (count: number, headers?: Record<string, string>) =>
      Promise.all(Array.from({ length: count }, () => get(headers)))
    return { shop, get, many }
  }
  const offerIn = ({ headers }: RawAnswer) => {
    const decoded = Headers.decode(String(headers['payment-required']))
    if (!decoded.ok) throw new Error('no offer')
    return offerOf(decoded.value as PaymentRequired)
  }
  const statuses = (answers: RawAnswer[]) => answers.map(({ status }) => status).sort()

  it('R-173 turns a flood of one client away with 429, Retry-After and no offer, before the facilitator', async () => {
    const { many, get } = await start()
    const answers = await many(25)
    expect(statuses(answers)).toEqual([...Array(10).fill(402), ...Array(15).fill(429)])
    expect(facilitator.counts().challenge).toBe(10)
    for (const { status, headers, body } of answers.filter(({ status }) => status === 429)) {
      expect([status, headers['retry-after']]).toEqual([429, '6'])
      expect(headers).not.toHaveProperty('payment-required')
      expect(JSON.parse(body)).toMatchObject({ reason: 'too_many_requests' })
    }
    nowMs += 6_000
    expect((await get()).status).toBe(402)
  })

  it('R-173 still serves those who come back with a payment', async () => {
    const { shop, many, get } = await start()
    const offers = (await many(10)).map(offerIn)
    expect((await get()).status).toBe(429)
    for (const offer of offers) expect((await get(paying(paymentFor(offer)).headers)).status).toBe(200)
    expect(shop.served()).toBe(10)
  })

  it('counts what is offered after a refused payment too, and tells its reason without an offer then', async () => {
    const { get, many } = await start()
    const payment = paymentFor(offerIn(await get()))
    const junk = paying({ ...payment, accepted: { ...payment.accepted, amount: '1' } }).headers
    expect(statuses(await many(25, junk))).toEqual([...Array(9).fill(402), ...Array(16).fill(429)])
    expect(facilitator.counts().challenge).toBe(10)
    facilitator.script.verify = () => ({ body: { isValid: false, invalidReason: 'insufficient_funds' } })
    const refused = await get(paying(payment).headers)
    expect(refused.status).toBe(429)
    expect(refused.headers).not.toHaveProperty('payment-required')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(JSON.parse(refused.body)).toMatchObject({ reason: 'insufficient_funds' })
    expect(facilitator.counts().challenge).toBe(10)
  })

  it('bounds requests that carry a payment as well, whatever is in it', async () => {
    const { many, shop } = await start()
    const answers = await many(70, { 'payment-signature': 'x' })
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(60)
    expect(facilitator.counts()).toMatchObject({ challenge: 10, verify: 0 })
    expect(shop.served()).toBe(0)
  })

  it('answers a payment of no scheme or another one with an offer, and counts it', async () => {
    const { get, many } = await start()
    const paid = (accepted: object) => paying({ x402Version: 2, accepted, payload: {} }).headers
    for (const accepted of [{}, { scheme: 'exact', network: 'eip155:1' }]) {
      const answer = await get(paid(accepted))
      expect(answer.status).toBe(402)
      expect(offerIn(answer)).toMatchObject({ scheme: 'svc-zerc20', extra: { helper: expect.any(String) } })
      expect(JSON.parse(answer.body)).toMatchObject({ reason: 'offer_mismatch' })
    }
    expect(facilitator.counts()).toMatchObject({ challenge: 2, verify: 0 })
    await many(8)
    const turnedAway = await get(paid({}))
    expect([turnedAway.status, turnedAway.headers['payment-required']]).toEqual([429, undefined])
    expect(JSON.parse(turnedAway.body).action).toBe('Ask again after 6 s.')
  })

  it('takes a sealed payment while junk of ten thousand addresses fills every other share', async () => {
    let name = 'honest'
    const { get, shop } = await start({ client: () => name, clientLimits: { clientsMax: 50 } })
    const payment = paymentFor(offerIn(await get()))
    // Newcomers above the number of clients share one limit, which junk then uses up every second.
    for (let i = 0; i < 200; i++) {
      name = `stranger ${i}`
      await get(i % 2 === 0 ? { 'payment-signature': 'x' } : paying({ ...payment, accepted: {} }).headers)
    }
    name = 'newcomer'
    const junk = await get({ 'payment-signature': 'x' })
    expect(junk.status).toBe(429)
    expect(JSON.parse(junk.body).action).toMatch(/^Present the same payment again after \d+ s\./)
    expect((await get(paying(payment).headers)).status).toBe(200)
    expect(shop.served()).toBe(1)
  })

  it('bounds what one sealed offer brings to the facilitator, from however many addresses', async () => {
    let name = 'stranger'
    const { get } = await start({ client: () => name })
    const payment = paymentFor(offerIn(await get()))
    facilitator.script.verify = () => ({ body: { isValid: false, invalidReason: 'invalid_signature' } })
    for (let i = 0; i < 30; i++) {
      name = `stranger ${i}`
      const payload = { ...payment.payload, burnTxHash: `0x${String(i).padStart(64, '0')}` }
      await get(paying({ ...payment, payload }).headers)
    }
    expect(facilitator.counts().verify).toBe(clientLimits.refusedPerOfferPerMinute)
  })

  it('does not believe a header about who the client is, unless the seller says so', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': address, forwarded: `for=${address}` })
    const { get, many } = await start()
    await many(10)
    expect((await get(from('203.0.113.1'))).status).toBe(429)
    const client = (asked: unknown) => {
      const { req, headers } = asked as {
        req?: { header?: (name: string) => string }
        headers?: Record<string, string>
      }
      return headers?.['x-forwarded-for'] ?? req?.header?.('x-forwarded-for')
    }
    const proxied = await start({ client })
    await proxied.many(10, from('203.0.113.1'))
    expect((await proxied.get(from('203.0.113.1'))).status).toBe(429)
    expect((await proxied.get(from('203.0.113.2'))).status).toBe(402)
    await proxied.many(10, from('2001:db8::1'))
    expect((await proxied.get(from('2001:db8::2'))).status).toBe(429)
  })

  it('sells nothing while it cannot tell its clients apart, unless the seller wants no limit', async () => {
    const { get } = await start({ client: () => undefined })
    const answer = await get()
    expect(answer.status).toBe(500)
    expect(JSON.parse(answer.body)).toMatchObject({ reason: 'client_unknown' })
    expect(facilitator.counts().challenge).toBe(0)
    const { many } = await start({ client: () => undefined, clientLimits: 'unlimited' })
    expect(new Set(statuses(await many(25)))).toEqual(new Set([402]))
  })
})
