import type { x402ResourceServer } from '@x402/core/server'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startFacilitator, type TestFacilitator } from '../../test/facilitator.js'
import { offerOf, openShop, paymentFor, required, type Shop, schemeFor } from '../../test/shop.js'
import type { Clock } from '../index.js'

let facilitator: TestFacilitator
let aheadMs = 0
const clock: Clock = { now: () => Date.now() + aheadMs, sleep: async () => {} }
const opened: Shop[] = []

beforeAll(async () => {
  facilitator = await startFacilitator()
})
afterEach(async () => {
  aheadMs = 0
  facilitator.reset()
  await Promise.all(opened.splice(0).map((shop) => shop.close()))
})
afterAll(() => facilitator.close())

async function open(configure?: (server: x402ResourceServer) => unknown, extensions = {}) {
  const svc = schemeFor(facilitator.url, { clock })
  const routes = { 'GET /x': { accepts: svc.accept({ price: '100' }), extensions } }
  const shop = await openShop(svc, routes, [], configure)
  opened.push(shop)
  const offer = offerOf(required(await shop.get('/x')))
  facilitator.forget()
  return { shop, offer, payment: paymentFor(offer) }
}
const refuseWith = (invalidReason: string, status = 200) => {
  facilitator.script.verify = () => ({ status, body: { isValid: false, invalidReason } })
}

describe('the 402 after a refused payment', () => {
  it('R-012 R-013 shows an offer of now: another address, and the time it has left', async () => {
    const { shop, offer, payment } = await open()
    expect(offer.maxTimeoutSeconds).toBeGreaterThan(290)
    aheadMs = 100_000
    refuseWith('challenge_expired')
    const fresh = offerOf(required(await shop.get('/x', payment)))
    expect(fresh.payTo).not.toBe(offer.payTo)
    expect(fresh.extra.challengeNonce).not.toBe(offer.extra.challengeNonce)
    expect(fresh.extra.seal).not.toBe(offer.extra.seal)
    expect(fresh.maxTimeoutSeconds).toBeLessThanOrEqual(200)
    expect(facilitator.counts()).toMatchObject({ challenge: 1, verify: 1 })
    facilitator.reset()
    expect((await shop.get('/x', paymentFor(fresh))).status).toBe(200)
  })

  it.each([400, 402])('does so too when the verdict comes with %i', async (status) => {
    const { shop, offer, payment } = await open()
    refuseWith('value_mismatch', status)
    const response = await shop.get('/x', payment)
    expect(response.status).toBe(402)
    expect(offerOf(required(response)).payTo).not.toBe(offer.payTo)
  })

  it("does so when the seller's own hook refuses before the facilitator is asked", async () => {
    const { shop, offer, payment } = await open((server) =>
      server.onBeforeVerify(async () => ({ abort: true, reason: 'not today' })),
    )
    const response = await shop.get('/x', payment)
    expect(response.status).toBe(402)
    expect(required(response).error).toBe('not today')
    expect(offerOf(required(response)).payTo).not.toBe(offer.payTo)
    expect(facilitator.counts()).toEqual({ challenge: 1, verify: 0, settle: 0, payments: 0 })
  })

  it('does so when the echo of an extension was changed', async () => {
    const { shop, offer, payment } = await open(undefined, { note: { info: { a: 1 } } })
    const response = await shop.get('/x', { ...payment, extensions: { note: { info: { a: 2 } } } })
    expect(response.status).toBe(402)
    expect(required(response).error).toBe('extension_echo_mismatch')
    expect(offerOf(required(response)).payTo).not.toBe(offer.payTo)
    expect(facilitator.counts()).toMatchObject({ challenge: 1, verify: 0 })
  })

  it('offers nothing that can be paid when there is no fresh offer to be had, and still tells the reason', async () => {
    const { shop, offer, payment } = await open()
    refuseWith('insufficient_funds')
    facilitator.script.challenge = () => ({ status: 429, body: { error: 'slow down' } })
    const response = await shop.get('/x', payment)
    expect(response.status).toBe(402)
    expect(required(response).error).toMatch(/^insufficient_funds: /)
    const shown = offerOf(required(response))
    expect(shown).toMatchObject({ payTo: `0x${'0'.repeat(40)}`, extra: { expiresAt: 0 } })
    expect(JSON.stringify(required(response))).not.toContain(offer.payTo)
  })

  it('R-004 a payment of another version is refused with a fresh offer as well', async () => {
    const { shop, offer, payment } = await open()
    for (const x402Version of [1, 3]) {
      const response = await shop.get('/x', { ...payment, x402Version })
      expect(response.status).toBe(402)
      expect(offerOf(required(response)).payTo).not.toBe(offer.payTo)
    }
  })
})
