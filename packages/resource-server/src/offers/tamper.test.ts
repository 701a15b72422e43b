import type { PaymentRequirements } from '@x402/core/types'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { challengeFor, helper, startFacilitator, type TestFacilitator } from '../../test/facilitator.js'
import { offerOf, openShop, paymentFor, required, type Shop, schemeFor, secret } from '../../test/shop.js'
import type { SealSecrets, SvcSchemeOptions } from '../index.js'

const routesOf = (svc: ReturnType<typeof schemeFor>, cheap = '100') => ({
  'GET /cheap': {
    accepts: svc.accept({
      price: cheap,
      description: 'cheap',
      extra: { sku: 'A-1', parts: [{ id: 'a' }], more: { of: 'it' } },
    }),
  },
  'POST /cheap': { accepts: svc.accept({ price: cheap }) },
  'GET /dear': { accepts: svc.accept({ price: '10000' }) },
  'GET /twin': { accepts: svc.accept({ price: cheap }) },
})

let facilitator: TestFacilitator
let shop: Shop
const opened: Shop[] = []

async function open(
  secrets: SealSecrets,
  cheap?: string,
  options?: Partial<SvcSchemeOptions>,
): Promise<Shop> {
  const svc = schemeFor(facilitator.url, { secret: secrets, ...options })
  const another = await openShop(svc, routesOf(svc, cheap))
  opened.push(another)
  return another
}

beforeAll(async () => {
  facilitator = await startFacilitator()
  shop = await open(secret)
})
beforeEach(() => facilitator.reset())
afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()))
  await facilitator.close()
})

async function genuineOffer(path = '/cheap', from = shop): Promise<PaymentRequirements> {
  const offer = offerOf(required(await from.get(path)))
  facilitator.forget()
  return offer
}

/** Refused with a fresh offer: one challenge for it, and the facilitator hears nothing of the payment. */
async function expectRefused(response: Response, echoed: PaymentRequirements) {
  expect(response.status).toBe(402)
  expect(facilitator.counts()).toEqual({ challenge: 1, verify: 0, settle: 0, payments: 0 })
  const { error, accepts } = required(response)
  expect(error).toBe('No matching payment requirements')
  expect(accepts[0]?.extra.challengeNonce).not.toBe(echoed.extra.challengeNonce)
}

type Change = (offer: PaymentRequirements) => object
const inExtra =
  (change: object): Change =>
  (offer) => ({ ...offer, extra: { ...offer.extra, ...change } })
const without =
  (key: string): Change =>
  (offer) => {
    const { [key]: _, ...extra } = offer.extra
    return { ...offer, extra }
  }
const otherSeal: Change = (offer) => {
  const [list, mac = ''] = String(offer.extra.seal).split('.')
  const flipped = mac.startsWith('A') ? `B${mac.slice(1)}` : `A${mac.slice(1)}`
  return { ...offer, extra: { ...offer.extra, seal: `${list}.${flipped}` } }
}

const changes: [string, Change][] = [
  ['payTo rewritten', (offer) => ({ ...offer, payTo: `0x${'1'.repeat(40)}` })],
  ['payTo in another case', (offer) => ({ ...offer, payTo: offer.payTo.toUpperCase().replace('0X', '0x') })],
  ['amount lowered', (offer) => ({ ...offer, amount: '1' })],
  ['amount raised', (offer) => ({ ...offer, amount: '1000000' })],
  ['amount as a number', (offer) => ({ ...offer, amount: Number(offer.amount) })],
  ['asset rewritten', (offer) => ({ ...offer, asset: `0x${'2'.repeat(40)}` })],
  ['maxTimeoutSeconds raised', (offer) => ({ ...offer, maxTimeoutSeconds: offer.maxTimeoutSeconds + 1 })],
  ['description rewritten', (offer) => ({ ...offer, description: 'dear' })],
  ['extra dropped', ({ extra: _, ...offer }) => offer],
  ['extra null', (offer) => ({ ...offer, extra: null })],
  ['challengeNonce rewritten', inExtra({ challengeNonce: `0x${'3'.repeat(64)}` })],
  ['expiresAt raised', inExtra({ expiresAt: 99_999_999_999 })],
  ['deadline raised', inExtra({ deadline: 99_999_999_999 })],
  ['helper rewritten', inExtra({ helper: `0x${'4'.repeat(40)}` })],
  ['helper dropped', without('helper')],
  ['fee rewritten', inExtra({ fee: { amount: '0', bps: 100 } })],
  ['fee rewritten beside an added field', inExtra({ fee: { amount: '0', bps: 100, waived: true } })],
  ['fee dropped', without('fee')],
  ['own extra of the seller rewritten', inExtra({ sku: 'B-2' })],
  ['own extra of the seller dropped', without('sku')],
  ['paymentFlow added', inExtra({ paymentFlow: 'upfront' })],
  ['seal rewritten', otherSeal],
  ['seal dropped', without('seal')],
  ['seal empty', inExtra({ seal: '' })],
  ['seal no string', inExtra({ seal: { list: '100' } })],
  ['sealed list price raised', (offer) => inExtra({ seal: `9${offer.extra.seal}` })(offer)],
  ['nested beyond reason', inExtra({ fee: JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) })],
]

/** Keys that no seller offered. The matching rule allows payers to add them, and they are ignored. */
const additions: [string, Change][] = [
  ['a field of extra', inExtra({ note: 'hello' })],
  ['a top-level field', (offer) => ({ ...offer, discount: true, nested: { deep: [{ a: 1 }] } })],
  ['a field of the fee', inExtra({ fee: { amount: '1', bps: 100, waived: true } })],
  [
    'a field inside a field of the seller',
    inExtra({ parts: [{ id: 'a', note: 1 }], more: { of: 'it', x: 2 } }),
  ],
  [
    '__proto__',
    (offer) => JSON.parse(JSON.stringify(offer).replace('"extra":{', '"extra":{"__proto__":{"a":1},')),
  ],
]

describe('a tampered echo', () => {
  it.each(changes)('R-023 R-151 with %s is refused before the facilitator', async (_, change) => {
    const offer = await genuineOffer()
    const changed = change(offer) as PaymentRequirements
    expect(changed).not.toEqual(offer)
    const before = shop.served()
    await expectRefused(await shop.get('/cheap', { ...paymentFor(offer), accepted: changed }), offer)
    expect(shop.served()).toBe(before)
  })

  it.each(additions)('R-022 R-171 with %s added is the offer itself', async (_, change) => {
    const offer = await genuineOffer()
    const accepted = change(offer) as PaymentRequirements
    expect((await shop.get('/cheap', { ...paymentFor(offer), accepted })).status).toBe(200)
    expect(facilitator.counts()).toEqual({ challenge: 0, verify: 1, settle: 1, payments: 0 })
  })

  it.each([
    ['scheme', { scheme: 'exact' }],
    ['network', { network: 'eip155:1' }],
  ])('R-151 with another %s is refused with a fresh offer, before the facilitator', async (_, change) => {
    const offer = await genuineOffer()
    const accepted = { ...offer, ...change }
    const response = await shop.get('/cheap', { ...paymentFor(offer), accepted })
    await expectRefused(response, offer)
    expect(offerOf(required(response)).extra.expiresAt).toBeGreaterThan(0)
  })

  it.each([
    ['no accepted at all', undefined],
    ['accepted null', null],
    ['accepted a list', []],
  ])('R-151 with %s is refused before the facilitator', async (_, accepted) => {
    const payment = { ...paymentFor(await genuineOffer()), accepted }
    expect((await shop.get('/cheap', payment)).status).toBe(402)
    expect(facilitator.counts()).toMatchObject({ verify: 0, settle: 0 })
  })

  it('R-022 with only its keys in another order is the offer itself', async () => {
    const reversed = (value: unknown): unknown =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, item]) => [key, reversed(item)]),
          )
        : value
    const offer = await genuineOffer()
    const accepted = reversed(offer)
    expect(JSON.stringify(accepted)).not.toBe(JSON.stringify(offer))
    expect((await shop.get('/cheap', { ...paymentFor(offer), accepted })).status).toBe(200)
    expect(facilitator.counts()).toEqual({ challenge: 0, verify: 1, settle: 1, payments: 0 })
  })
})

describe('a genuine offer', () => {
  it('for a cheap route never buys a dear one, nor another of the same price, nor another method', async () => {
    const offer = await genuineOffer()
    await expectRefused(await shop.get('/dear', paymentFor(offer)), offer)
    facilitator.forget()
    await expectRefused(await shop.get('/twin', paymentFor(offer)), offer)
    facilitator.forget()
    await expectRefused(await shop.get('/cheap', paymentFor(offer), { method: 'POST' }), offer)
  })

  it('of the facilitator that this seller never sealed buys nothing', async () => {
    const genuine = await genuineOffer()
    const response = await fetch(`${facilitator.url}/challenge`, {
      method: 'POST',
      body: JSON.stringify({ amount: '1' }),
    })
    const { payTo, amount, challengeNonce, expiresAt } = await response.json()
    facilitator.forget()
    const extra = { ...genuine.extra, challengeNonce, expiresAt }
    const cheapest = { ...genuine, payTo, amount, extra }
    await expectRefused(await shop.get('/dear', paymentFor(cheapest)), cheapest)
  })

  it('is honoured by another instance with the same secret, and not by one with another', async () => {
    const twin = await open(secret)
    const stranger = await open('another secret which is just as long as it must be')
    const offer = await genuineOffer()
    await expectRefused(await stranger.get('/cheap', paymentFor(offer)), offer)
    facilitator.forget()
    expect((await twin.get('/cheap', paymentFor(offer))).status).toBe(200)
    expect(facilitator.counts()).toEqual({ challenge: 0, verify: 1, settle: 1, payments: 0 })
  })

  it('outlives a rotation of the secret as long as the old one is listed', async () => {
    const fresh = new Uint8Array(32).fill(7)
    const rotated = await open([fresh, secret])
    const done = await open(fresh)
    const old = await genuineOffer()
    expect((await rotated.get('/cheap', paymentFor(old))).status).toBe(200)
    expect((await done.get('/cheap', paymentFor(old))).status).toBe(402)
    const young = await genuineOffer('/cheap', rotated)
    expect((await done.get('/cheap', paymentFor(young))).status).toBe(200)
    expect((await shop.get('/cheap', paymentFor(young))).status).toBe(402)
  })

  it('in a token that the seller no longer takes is refused', async () => {
    const moved = await open(secret, undefined, { token: helper })
    facilitator.script.challenge = (call) => ({ body: { ...challengeFor(call), token: helper } })
    const offer = await genuineOffer('/cheap', moved)
    facilitator.script.challenge = (call) => ({ body: challengeFor(call) })
    await expectRefused(await shop.get('/cheap', paymentFor(offer)), offer)
  })

  it('is refused once the price rose, and honoured when it fell', async () => {
    const dearer = await open(secret, '101')
    const cheaper = await open(secret, '99')
    const offer = await genuineOffer()
    await expectRefused(await dearer.get('/cheap', paymentFor(offer)), offer)
    expect((await cheaper.get('/cheap', paymentFor(offer))).status).toBe(200)
  })
})
