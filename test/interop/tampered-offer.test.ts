import type { PaymentRequirements } from '@x402/core/types'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Interop, startInterop } from './support/network.js'
import { fetchOffer, payOffer } from './support/payments.js'
import { openExpressShop, openHonoShop, type Shop } from './support/shops.js'
import { offerOf, paying, receipt, required } from './support/wire.js'

let interop: Interop
let shop: Shop
let twin: Shop
let stranger: Shop
beforeAll(async () => {
  interop = await startInterop()
  shop = await openExpressShop(interop, { cheap: { extra: { sku: 'A-1' } } })
  twin = await openHonoShop(interop)
  stranger = await openExpressShop(interop, { secret: 'the secret of quite another shop, 32 bytes' })
})
afterAll(async () => {
  await Promise.all([shop.close(), twin.close(), stranger.close()])
  await interop.close()
})

type Change = (offer: PaymentRequirements) => object
const inExtra =
  (change: object): Change =>
  (offer) => ({ ...offer, extra: { ...offer.extra, ...change } })
const withoutExtra =
  (key: string): Change =>
  ({ extra: { [key]: _, ...extra }, ...offer }) => ({ ...offer, extra })

const changes: [string, Change][] = [
  ['another payTo', (offer) => ({ ...offer, payTo: `0x${'1'.repeat(40)}` })],
  ['a lower amount', (offer) => ({ ...offer, amount: '1' })],
  ['a longer time', (offer) => ({ ...offer, maxTimeoutSeconds: offer.maxTimeoutSeconds + 60 })],
  ['another nonce', inExtra({ challengeNonce: `0x${'2'.repeat(64)}` })],
  ['a later expiry', inExtra({ expiresAt: 4_000_000_000 })],
  ['an added fee', inExtra({ fee: { amount: '1', bps: 10 } })],
  ['another helper', inExtra({ helper: `0x${'3'.repeat(40)}` })],
  ['another seal', (offer) => inExtra({ seal: `${String(offer.extra.seal).slice(0, -4)}AAAA` })(offer)],
  ["the seller's own field rewritten", inExtra({ sku: 'B-2' })],
  ['another payment flow', inExtra({ paymentFlow: 'upfront' })],
  ['the helper removed', withoutExtra('helper')],
  ['the seal removed', withoutExtra('seal')],
  ["the seller's own field removed", withoutExtra('sku')],
  ['maxTimeoutSeconds removed', ({ maxTimeoutSeconds: _, ...offer }) => offer],
]

describe('a payment whose echoed offer has', () => {
  it.each(changes)(
    'R-023 R-151 %s is refused before the facilitator, and unchanged it buys',
    async (_, change) => {
      const url = `${shop.url}/cheap`
      const offer = await fetchOffer(url)
      const payment = await payOffer(interop, offer)
      const before = shop.served()
      interop.proxy.forget()
      const refused = await fetch(url, paying({ ...payment, accepted: change(offer) }))
      expect(refused.status).toBe(402)
      expect(refused.headers.has('PAYMENT-RESPONSE')).toBe(false)
      // The one call is for the fresh offer that comes with the refusal.
      expect(interop.proxy.paths()).toEqual(['/challenge'])
      expect(offerOf(required(refused)).payTo).not.toBe(offer.payTo)
      expect(shop.served()).toBe(before)
      expect(await interop.burnsTo(offer.payTo)).toEqual([])

      const served = await fetch(url, paying(payment))
      expect(served.status).toBe(200)
      expect(await interop.burnsTo(offer.payTo)).toHaveLength(1)
    },
  )

  it.each<[string, Change]>([
    ['a field more in extra', inExtra({ hint: 'added by the payer' })],
    ['a field more at its top', (offer) => ({ ...offer, hint: { of: 'the payer' } })],
  ])('R-022 R-171 %s buys, and the facilitator does not see the field', async (_, change) => {
    const url = `${shop.url}/cheap`
    const offer = await fetchOffer(url)
    const payment = await payOffer(interop, offer)
    interop.proxy.forget()
    const accepted = change(offer)
    expect((await fetch(url, paying({ ...payment, accepted }))).status).toBe(200)
    expect(interop.proxy.paths()).toEqual(['/verify', '/settle'])
    for (const { body } of interop.proxy.calls) expect(body).not.toContain('hint')
  })

  it('R-022 its keys in another order buys', async () => {
    const url = `${shop.url}/cheap`
    const offer = await fetchOffer(url)
    const payment = await payOffer(interop, offer)
    const accepted = reversed(offer)
    expect(JSON.stringify(accepted)).not.toBe(JSON.stringify(offer))
    interop.proxy.forget()
    expect((await fetch(url, paying({ ...payment, accepted }))).status).toBe(200)
    expect(interop.proxy.paths()).toEqual(['/verify', '/settle'])
  })
})

describe('a genuine offer', () => {
  it('of the cheap route never buys the dear one, paid or not', async () => {
    const offer = await fetchOffer(`${shop.url}/cheap`)
    const payment = await payOffer(interop, offer, { mode: 'self-transfer' })
    const before = shop.served()
    interop.proxy.forget()
    const refused = await fetch(`${shop.url}/dear`, paying(payment))
    expect(refused.status).toBe(402)
    expect(offerOf(required(refused)).amount).toBe('250000')
    expect(interop.proxy.paths()).toEqual(['/challenge'])
    expect(shop.served()).toBe(before)
    expect((await fetch(`${shop.url}/cheap`, paying(payment))).status).toBe(200)
  })

  it('R-009 made from a challenge a stranger asked for, for little, buys nothing', async () => {
    const genuine = await fetchOffer(`${shop.url}/dear`)
    const answer = await fetch(`${interop.facilitatorUrl}/challenge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ amount: '1' }),
    })
    const { payTo, amount, challengeNonce, expiresAt, deadline } = await answer.json()
    const forged = {
      ...genuine,
      payTo,
      amount,
      extra: { ...genuine.extra, challengeNonce, expiresAt, deadline },
    }
    interop.proxy.forget()
    const refused = await fetch(`${shop.url}/dear`, paying(await payOffer(interop, forged)))
    expect(refused.status).toBe(402)
    expect(interop.proxy.paths()).toEqual(['/challenge'])
  })

  it('is honoured by another instance with the same secret, which says nothing of an sku any more', async () => {
    const offer = await fetchOffer(`${shop.url}/cheap`)
    const payment = await payOffer(interop, offer)
    interop.proxy.forget()
    const served = await fetch(`${twin.url}/cheap`, paying(payment))
    expect(served.status).toBe(200)
    expect(receipt(served).success).toBe(true)
    expect(interop.proxy.paths()).toEqual(['/verify', '/settle'])
  })

  it('is refused by a shop with another secret, before the facilitator', async () => {
    const payment = await payOffer(interop, await fetchOffer(`${shop.url}/cheap`))
    interop.proxy.forget()
    expect((await fetch(`${stranger.url}/cheap`, paying(payment))).status).toBe(402)
    expect(interop.proxy.paths()).toEqual(['/challenge'])
    expect(stranger.served()).toBe(0)
  })

  it('buys once: the same payment again gets the same bytes, and nothing at another target', async () => {
    const offer = await fetchOffer(`${shop.url}/cheap`)
    const payment = await payOffer(interop, offer)
    const before = shop.served()
    const first = await fetch(`${shop.url}/cheap`, paying(payment))
    expect(first.status).toBe(200)
    const again = await fetch(`${shop.url}/cheap`, paying(payment))
    expect([again.status, await again.text()]).toEqual([200, await first.text()])
    const elsewhere = await fetch(`${shop.url}/cheap?another=1`, paying(payment))
    expect(elsewhere.status).toBe(402)
    expect(await elsewhere.text()).not.toContain('bought')
    expect(shop.served()).toBe(before + 1)
    expect(await interop.burnsTo(offer.payTo)).toHaveLength(1)
  })
})

/** The same value with the keys of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => [key, reversed(item)] as const)
  return Object.fromEntries(entries.reverse())
}
