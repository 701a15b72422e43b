/** A person in a browser gets a page, on every framework; programs get what they always got. */
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { Headers } from '@svc-zerc20/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFacilitator, type TestFacilitator } from '../../test/facilitator.js'
import { openExpress, openHono } from '../../test/gated-shops.js'
import { offerOf, paying, paymentFor, required, schemeFor } from '../../test/shop.js'
import { type GateOptions, sellOnNext } from '../index.js'

// Outside a bundler only the CommonJS build of the next adapter finds `next/server`.
const require = createRequire(import.meta.url)
const { withX402FromHTTPServer } = require('@x402/next') as typeof import('@x402/next')
const { NextRequest, NextResponse } = require('next/server') as typeof import('next/server.js')

let facilitator: TestFacilitator
const closing: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  facilitator = await startFacilitator()
})
beforeEach(() => facilitator.reset())
afterEach(() => Promise.all(closing.splice(0).map((close) => close())))
afterAll(() => facilitator.close())

type Ask = (headers?: Record<string, string>, path?: string) => Promise<Response>
type Open = (options?: GateOptions<never>) => Promise<Ask>

const over =
  (open: typeof openExpress): Open =>
  async (options = {}) => {
    const shop = await open(schemeFor(facilitator.url), {}, options)
    closing.push(shop.close)
    return (headers = {}, path = '/get') => fetch(shop.url + path, { headers, redirect: 'manual' })
  }

const openNext: Open = async (options = {}) => {
  const paid = sellOnNext(schemeFor(facilitator.url), withX402FromHTTPServer, {
    client: () => 'somebody',
    ...options,
  } as never)
  const handle = paid({ price: '100' }, async () => NextResponse.json({ bought: '/get' })) as unknown as (
    request: unknown,
    context: unknown,
  ) => Promise<Response>
  return (headers = {}, path = '/get') => handle(new NextRequest(`http://127.0.0.1${path}`, { headers }), {})
}

const person = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'user-agent': 'Mozilla/5.0' }
const answerKeyOf = (payment: string) => ({
  cookie: `a=b; svc-paid=${createHash('sha256').update(payment).digest('base64url')}; c=d`,
})

describe.each<[string, Open]>([
  ['express', over(openExpress)],
  ['hono', over(openHono)],
  ['next', openNext],
])('on %s', (_, open) => {
  it('a person is told the price in tokens, as the facilitator calls them or, before that, the seller', async () => {
    const usual = facilitator.script.challenge
    facilitator.script.challenge = (call) => ({
      body: { ...(usual(call) as { body: object }).body, tokenLabel: { symbol: 'zUSD', decimals: 6 } },
    })
    const page = await (await (await open())(person)).text()
    expect(page).toContain('0.000101 zUSD</b>')
    expect(page).toContain('data-symbol="zUSD" data-decimals="6"')
    const named = await open({ paywall: { token: { symbol: 'EUR', decimals: 2 } } })
    expect(await (await named(person)).text()).toContain('1.01 EUR</b>')
  })

  it('a person gets a page with status, offer and cache rule of before; a program gets no page', async () => {
    const ask = await open()
    const [page, plain] = [await ask(person), await ask()]
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
    expect(await page.text()).toMatch(/^<!doctype html>/)
    expect(await plain.json()).toMatchObject({ reason: 'payment_required' })
    for (const answer of [page, plain]) {
      expect(answer.status).toBe(402)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(required(answer).accepts).toHaveLength(1)
    }
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(plain.headers.get('content-security-policy')).toBeNull()
    expect(facilitator.counts().challenge).toBe(2)
  })

  it('a person is told in words when there is no offer: over the limit, or without a facilitator', async () => {
    const ask = await open({ clientLimits: { unpaidPerMinute: 1 } })
    facilitator.script.challenge = () => 'drop'
    const away = await ask(person)
    expect(away.status).toBe(502)
    expect(await away.text()).toContain('<h1>Not available right now</h1>')
    const limited = await ask(person)
    expect(limited.status).toBe(429)
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await limited.text()).toContain('You have asked too often')
    expect(limited.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  })

  it('the page can be turned off, or be another one', async () => {
    const off = await (await open({ paywall: 'none' }))(person)
    expect(off.headers.get('content-type')).toContain('application/json')
    expect(await off.json()).toMatchObject({ reason: 'payment_required' })
    const own = await (await open({ paywall: { generateHtml: ({ accepts }) => `${accepts.length} offer` } }))(
      person,
    )
    expect(await own.text()).toBe('1 offer')
    expect(own.status).toBe(402)
  })

  it('an answer key opens what was bought, for its own address alone, and buys nothing', async () => {
    const ask = await open()
    const told = required(await ask())
    const payment = Headers.encode(paymentFor(offerOf(told)))
    const before = await ask({ ...person, ...answerKeyOf(payment) })
    expect(before.status).toBe(402)
    expect(facilitator.counts()).toMatchObject({ verify: 0, settle: 0 })

    const bought = await (await ask(paying(payment).headers)).json()
    facilitator.forget()
    const again = await ask({ ...person, ...answerKeyOf(payment) })
    expect(again.status).toBe(200)
    expect(again.headers.get('cache-control')).toBe('no-store')
    expect(await again.json()).toEqual(bought)
    expect((await ask({ ...person, ...answerKeyOf(payment) }, '/get?other')).status).toBe(402)
    expect((await ask({ ...person, ...answerKeyOf('another payment') })).status).toBe(402)
    expect(facilitator.counts()).toMatchObject({ verify: 0, settle: 0 })
  })

  it('a made-up answer key is counted, and its form is checked before a store sees it', async () => {
    const keys: string[] = []
    const answers = {
      get: async (key: string) => void keys.push(key) as undefined,
      set: async () => {},
    }
    const ask = await open({ answers, clientLimits: { payingPerMinute: 2, unpaidPerMinute: 9 } })
    await ask({ cookie: `svc-paid=${'*'.repeat(43)}` })
    await ask({ cookie: `svc-paid=../${'A'.repeat(40)}` })
    expect(keys).toEqual([])
    const statuses = []
    for (let i = 0; i < 3; i += 1) statuses.push((await ask({ cookie: `svc-paid=${'A'.repeat(43)}` })).status)
    expect(statuses).toEqual([402, 402, 429])
    expect(keys).toHaveLength(2)
  })
})
