import type { RequestHandler } from 'express'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buyWithFetch, createPayer } from './support/buyers.js'
import { type Interop, startInterop } from './support/network.js'
import { fetchOffer, payOffer } from './support/payments.js'
import { openExpressShop, type Shop } from './support/shops.js'
import { paying } from './support/wire.js'

let interop: Interop
let shop: Shop
let asked = 0
const askedMax = 3

/** The guide's limit: a few unpaid requests for the expensive route, and a separate limit for paid ones. */
const limitDear: RequestHandler = (request, response, next) => {
  const isLimited = request.path === '/dear' && request.headers['payment-signature'] === undefined
  if (isLimited) asked += 1
  if (isLimited && asked > askedMax) {
    response.set('retry-after', '60').status(429).json({ error: 'too many requests' })
    return
  }
  next()
}

beforeAll(async () => {
  interop = await startInterop()
  shop = await openExpressShop(interop, { before: limitDear })
})
beforeEach(() => {
  asked = 0
  interop.proxy.reset()
})
afterAll(async () => {
  await shop.close()
  await interop.close()
})

describe("a seller's own limit before the payment middleware", () => {
  it('R-173 turns a flood away before the facilitator or the handler hears of it', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${shop.url}/dear`)))
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(askedMax)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20 - askedMax)
    expect(interop.proxy.calls.filter(({ path }) => path === '/challenge')).toHaveLength(askedMax)
    expect(shop.served()).toBe(0)
    expect((await fetch(`${shop.url}/cheap`)).status).toBe(402)
  })

  it('R-173 lets those through who come back with a payment', async () => {
    const buy = buyWithFetch(interop, createPayer(interop))
    for (let i = 0; i < askedMax; i++) {
      const { status } = await buy(`${shop.url}/dear`)
      expect(status).toBe(200)
    }
    expect((await fetch(`${shop.url}/dear`)).status).toBe(429)
  })
})

describe("the gate's limit for one client", () => {
  it('R-173 turns a flood away, and serves the same client when it comes with a payment', async () => {
    const gated = await openExpressShop(interop, { clientLimits: { unpaidPerMinute: 3 } })
    try {
      const offers = await Promise.all([1, 2, 3].map(() => fetchOffer(`${gated.url}/cheap`)))
      interop.proxy.forget()
      const flood = await Promise.all(Array.from({ length: 20 }, () => fetch(`${gated.url}/cheap`)))
      expect(new Set(flood.map(({ status }) => status))).toEqual(new Set([429]))
      expect(interop.proxy.paths()).toEqual([])
      for (const offer of offers) {
        const payment = await payOffer(interop, offer)
        expect((await fetch(`${gated.url}/cheap`, paying(payment))).status).toBe(200)
      }
      expect(gated.served()).toBe(3)
    } finally {
      await gated.close()
    }
  })
})
