import { createRequire } from 'node:module'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import { Hono } from 'hono'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { accepted, refused, startFacilitator, type TestFacilitator } from '../../test/facilitator.js'
import { offerOf, openShop, paying, paymentFor, receipt, required, schemeFor } from '../../test/shop.js'

// Outside a bundler only the CommonJS build of the next adapter finds `next/server`.
const require = createRequire(import.meta.url)
const { withX402, x402ResourceServer: NextResourceServer } =
  require('@x402/next') as typeof import('@x402/next')
const { NextRequest, NextResponse } = require('next/server') as typeof import('next/server.js')

let facilitator: TestFacilitator

beforeAll(async () => {
  facilitator = await startFacilitator()
})
beforeEach(() => facilitator.reset())
afterAll(() => facilitator.close())

type Get = (payment?: unknown) => Promise<Response>
type Opened = { get: Get; close?: () => Promise<void> }

async function openExpress(upfront: boolean): Promise<Opened> {
  const svc = schemeFor(facilitator.url)
  const shop = await openShop(svc, { 'GET /x': { accepts: svc.accept({ price: '100', upfront }) } })
  return { get: (payment) => shop.get('/x', payment), close: shop.close }
}

async function openHono(upfront: boolean): Promise<Opened> {
  const svc = schemeFor(facilitator.url)
  const server = new x402ResourceServer(svc.facilitatorClient).register(svc.network, svc)
  const routes = { 'GET /x': { accepts: svc.accept({ price: '100', upfront }) } }
  const app = new Hono().use(paymentMiddleware(routes, server)).get('/x', (c) => c.json({ bought: '/x' }))
  return { get: async (payment) => app.request('/x', payment === undefined ? {} : paying(payment)) }
}

async function openNext(upfront: boolean): Promise<Opened> {
  const svc = schemeFor(facilitator.url)
  const server = new NextResourceServer(svc.facilitatorClient).register(svc.network, svc)
  const handler = async () => NextResponse.json({ bought: '/x' })
  const route = withX402(handler, { accepts: svc.accept({ price: '100', upfront }) }, server)
  const request = (payment?: unknown) =>
    new NextRequest('http://127.0.0.1/x', payment === undefined ? {} : paying(payment))
  return { get: (payment) => route(request(payment)) }
}

describe.each([
  ['express', openExpress],
  ['hono', openHono],
  ['next', openNext],
])('the official %s middleware needs nothing but the scheme', (_, open) => {
  async function withRoute(upfront: boolean, use: (get: Get) => Promise<void>) {
    const { get, close } = await open(upfront)
    try {
      await use(get)
    } finally {
      await close?.()
    }
  }

  it('R-133 R-134 one challenge when unpaid, none when paid, verify and settle around the handler', () =>
    withRoute(false, async (get) => {
      const unpaid = await get()
      expect(unpaid.status).toBe(402)
      expect(facilitator.counts()).toEqual({ challenge: 1, verify: 0, settle: 0, payments: 0 })
      facilitator.forget()
      const paid = await get(paymentFor(offerOf(required(unpaid))))
      expect(paid.status).toBe(200)
      expect(await paid.json()).toEqual({ bought: '/x' })
      expect(receipt(paid)).toEqual(accepted)
      expect(facilitator.calls.map(({ path }) => path)).toEqual(['/verify', '/settle'])
    }))

  it('R-151 a tampered echo is refused before the facilitator', () =>
    withRoute(false, async (get) => {
      const offer = offerOf(required(await get()))
      facilitator.forget()
      const payment = paymentFor({ ...offer, amount: '1' })
      expect((await get(payment)).status).toBe(402)
      expect(facilitator.counts()).toEqual({ challenge: 1, verify: 0, settle: 0, payments: 0 })
    }))

  it('R-012 R-133 a refused payment is shown a fresh offer, never the address it used', () =>
    withRoute(false, async (get) => {
      const offer = offerOf(required(await get()))
      facilitator.forget()
      facilitator.script.verify = () => ({ body: { isValid: false, invalidReason: 'insufficient_funds' } })
      const refusedOne = await get(paymentFor(offer))
      expect(refusedOne.status).toBe(402)
      expect(facilitator.calls.map(({ path }) => path)).toEqual(['/verify', '/challenge'])
      const { accepts, error } = required(refusedOne)
      expect(error).toMatch(
        /^insufficient_funds: The payer holds less than the amount\b.*\. Put the amount into/,
      )
      expect(JSON.stringify(accepts)).not.toContain(offer.payTo)
      facilitator.reset()
      expect((await get(paymentFor(offerOf({ ...required(refusedOne) })))).status).toBe(200)
    }))

  it('R-135 R-161 a failed settle turns the response into a 402', () =>
    withRoute(false, async (get) => {
      const payment = paymentFor(offerOf(required(await get())))
      facilitator.script.settle = () => ({ body: refused('burn_reverted') })
      const paid = await get(payment)
      expect(paid.status).toBe(402)
      expect(await paid.text()).not.toContain('bought')
      expect(receipt(paid).errorReason).toBe('burn_reverted')
    }))

  it('upfront settles before the handler', () =>
    withRoute(true, async (get) => {
      const payment = paymentFor(offerOf(required(await get())))
      facilitator.forget()
      expect((await get(payment)).status).toBe(200)
      expect(facilitator.calls.map(({ path }) => path)).toEqual(['/settle'])
    }))
})
