import { baseUnits } from '@svc-zerc20/protocol'
import type { FacilitatorClient, x402ResourceServer } from '@x402/core/server'
import type { PaymentRequirements, SchemeNetworkServer } from '@x402/core/types'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type Answer,
  accepted,
  burnTx,
  challengeFor,
  helper,
  network,
  refused,
  startFacilitator,
  type TestFacilitator,
  token,
} from '../../test/facilitator.js'
import { offerOf, openShop, paymentFor, receipt, required, type Shop, schemeFor } from '../../test/shop.js'

let facilitator: TestFacilitator
let shop: Shop

beforeAll(async () => {
  facilitator = await startFacilitator()
  const svc = schemeFor(facilitator.url)
  shop = await openShop(svc, {
    'GET /cheap': { accepts: svc.accept({ price: '100' }), description: 'a secret product' },
    'GET /upfront': { accepts: svc.accept({ price: '100', upfront: true }) },
    'GET /fails': { accepts: svc.accept({ price: '100' }) },
    'GET /by-size': {
      accepts: svc.accept({ price: ({ adapter }) => String(adapter.getQueryParam?.('size')) }),
    },
    'GET /described': {
      accepts: svc.accept({
        price: '100',
        resource: 'https://shop.example/described',
        description: 'words about it',
        mimeType: 'text/plain',
        outputSchema: { type: 'object', properties: { a: { type: 'string' } } },
        extra: { sku: 'A-1' },
      }),
    },
  })
})
beforeEach(() => facilitator.reset())
afterAll(async () => {
  await shop.close()
  await facilitator.close()
})

const offerFor = async (path: string) => offerOf(required(await shop.get(path)))
const paymentOffered = async (path: string) => {
  const { resource, ...rest } = required(await shop.get(path))
  const payment = paymentFor(offerOf({ resource, ...rest }), resource)
  facilitator.forget()
  return payment
}

describe('an unpaid request', () => {
  it('R-133 costs exactly one challenge and answers 402 with its offer', async () => {
    const response = await shop.get('/cheap')
    expect(response.status).toBe(402)
    expect(facilitator.counts()).toEqual({ challenge: 1, verify: 0, settle: 0, payments: 0 })
    expect(facilitator.calls.find(({ path }) => path === '/challenge')?.body).toEqual({ amount: '100' })
    const offer = offerOf(required(response))
    expect(offer).toMatchObject({ scheme: 'svc-zerc20', network, asset: token, amount: '101' })
    expect(offer.extra).toMatchObject({ helper, fee: { amount: '1', bps: 100 }, seal: expect.any(String) })
    expect(offer.extra).not.toHaveProperty('paymentFlow')
    expect(offer.maxTimeoutSeconds).toBeGreaterThan(290)
    expect(offer.maxTimeoutSeconds).toBeLessThanOrEqual(300)
  })

  it('R-133 costs one challenge each, and gets an offer of its own, when many come at once', async () => {
    const offers = await Promise.all(Array.from({ length: 20 }, () => offerFor('/cheap')))
    expect(facilitator.counts().challenge).toBe(20)
    expect(new Set(offers.map(({ payTo }) => payTo)).size).toBe(20)
  })

  it('R-014 passes the standard optional fields and the own extra of the seller on', async () => {
    const payment = await paymentOffered('/described')
    expect(payment.accepted).toMatchObject({
      resource: 'https://shop.example/described',
      description: 'words about it',
      mimeType: 'text/plain',
      outputSchema: { type: 'object', properties: { a: { type: 'string' } } },
      extra: { sku: 'A-1' },
    })
    expect((await shop.get('/described', payment)).status).toBe(200)
    expect(facilitator.counts()).toMatchObject({ challenge: 0, verify: 1, settle: 1 })
  })

  it('takes a header that is no payment for none', async () => {
    for (const header of ['%%%', 'bm90IGpzb24', btoa('[]'), btoa('7')]) {
      facilitator.forget()
      expect((await shop.get('/cheap', header)).status).toBe(402)
      expect(facilitator.counts()).toEqual({ challenge: 1, verify: 0, settle: 0, payments: 0 })
    }
  })

  const failures: [string, Answer | ((body: ReturnType<typeof challengeFor>) => object)][] = [
    ['ends the connection', 'drop'],
    ['is at its limit', { status: 503, body: { error: 'busy' } }],
    ['is gated', { status: 403, body: { error: 'disabled' } }],
    ['answers no JSON', { body: 'oops' }],
    ['answers no challenge', { body: { payTo: 'x' } }],
    ['quotes another token', (body) => ({ ...body, token: helper })],
    ['quotes another network', (body) => ({ ...body, chainId: 1 })],
    ['quotes less than the price', (body) => ({ ...body, amount: '100' })],
    ['quotes more than price and fee', (body) => ({ ...body, amount: '102' })],
  ]
  it.each(failures)('gets 502 and no offer when the facilitator %s', async (_, failure) => {
    facilitator.script.challenge = (call) =>
      typeof failure === 'function' ? { body: failure(challengeFor(call)) } : failure
    const response = await shop.get('/cheap')
    expect(response.status).toBe(502)
    expect(response.headers.has('payment-required')).toBe(false)
    expect(await response.text()).not.toContain(String(facilitator.port))
  })
})

describe('a paid request', () => {
  it('R-134 is verified, handled and settled in this order, and costs no challenge', async () => {
    const payment = await paymentOffered('/cheap')
    const response = await shop.get('/cheap', payment)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ bought: '/cheap' })
    expect(receipt(response)).toEqual(accepted)
    expect(facilitator.calls.map(({ path }) => path)).toEqual(['/verify', '/settle'])
  })

  it('tells the facilitator nothing of the resource, and the payer everything', async () => {
    for (const path of ['/cheap', '/described']) {
      const payment = await paymentOffered(path)
      expect(payment.resource?.url).toContain(path)
      const extensions = { bazaar: { info: { url: `https://shop.example${path}` } } }
      expect((await shop.get(path, { ...payment, extensions })).status).toBe(200)
      const sent = JSON.stringify(facilitator.calls)
      for (const word of [
        path.slice(1),
        'shop.example',
        'secret product',
        'words',
        'text/plain',
        'A-1',
        'seal',
      ]) {
        expect(sent.replaceAll('"/settle"', '').replaceAll('"/verify"', '')).not.toContain(word)
      }
      expect(facilitator.calls[0]?.body).toMatchObject({
        x402Version: 2,
        paymentPayload: { x402Version: 2, payload: payment.payload },
        paymentRequirements: { payTo: payment.accepted.payTo, amount: payment.accepted.amount },
      })
    }
  })

  it('R-018 is not refused by the plugin after expiry: the facilitator judges', async () => {
    facilitator.script.challenge = (call) => ({ body: { ...challengeFor(call), expiresAt: 1, deadline: 1 } })
    facilitator.script.verify = () => ({ body: { isValid: false, invalidReason: 'challenge_expired' } })
    const payment = await paymentOffered('/cheap')
    expect(payment.accepted.extra.expiresAt).toBe(1)
    const response = await shop.get('/cheap', payment)
    expect(response.status).toBe(402)
    expect(required(response).error).toMatch(/^challenge_expired: /)
    expect(facilitator.counts()).toMatchObject({ challenge: 1, verify: 1, settle: 0 })
  })

  it('R-135 R-161 is answered with a 402 instead of the buffered response when settle is refused', async () => {
    facilitator.script.settle = () => ({ body: refused('burn_reverted', burnTx) })
    const before = shop.served()
    const response = await shop.get('/cheap', await paymentOffered('/cheap'))
    expect(shop.served()).toBe(before + 1)
    expect(response.status).toBe(402)
    expect(await response.json()).toEqual({})
    expect(receipt(response)).toMatchObject(refused('burn_reverted', burnTx))
    expect(facilitator.counts()).toMatchObject({ verify: 1, settle: 1, payments: 0 })
  })

  it('is not settled when the handler fails', async () => {
    expect((await shop.get('/fails', await paymentOffered('/fails'))).status).toBe(500)
    expect(facilitator.counts()).toMatchObject({ verify: 1, settle: 0 })
  })

  it('gets 502, not a request for another payment, when verify ends without a verdict', async () => {
    for (const answer of ['drop', { status: 503, body: { error: 'busy' } }, { body: 'x' }] as const) {
      facilitator.script.verify = () => answer
      const before = shop.served()
      const response = await shop.get('/cheap', await paymentOffered('/cheap'))
      expect(response.status).toBe(502)
      expect(response.headers.has('payment-required')).toBe(false)
      expect(await response.text()).not.toContain(String(facilitator.port))
      expect(shop.served()).toBe(before)
    }
  })

  it('R-004 R-170 is refused before the facilitator when it speaks another version of x402', async () => {
    for (const path of ['/cheap', '/upfront']) {
      const payment = await paymentOffered(path)
      const tampered = { ...payment.accepted, amount: '1' }
      for (const x402Version of [1, 3]) {
        const before = shop.served()
        expect((await shop.get(path, { ...payment, x402Version })).status).toBe(402)
        expect((await shop.get(path, { ...payment, x402Version, accepted: tampered })).status).toBe(402)
        expect(shop.served()).toBe(before)
      }
      expect(facilitator.counts()).toMatchObject({ verify: 0, settle: 0 })
    }
  })
})

describe('an upfront route', () => {
  it('settles before the handler and says so in the offer', async () => {
    const payment = await paymentOffered('/upfront')
    expect(payment.accepted.extra.paymentFlow).toBe('upfront')
    const response = await shop.get('/upfront', payment)
    expect(response.status).toBe(200)
    expect(receipt(response)).toEqual(accepted)
    expect(facilitator.calls.map(({ path }) => path)).toEqual(['/settle'])
  })

  it('does not run the handler when settle is refused', async () => {
    facilitator.script.settle = () => ({ body: refused('already_accepted', burnTx) })
    const before = shop.served()
    const response = await shop.get('/upfront', await paymentOffered('/upfront'))
    expect(response.status).toBe(402)
    expect(receipt(response).errorReason).toBe('already_accepted')
    expect(shop.served()).toBe(before)
  })
})

describe('a price', () => {
  it('may follow the request, and honours an offer while it falls or stays, not when it rises', async () => {
    const offer = await offerFor('/by-size?size=500')
    expect(offer.amount).toBe('505')
    expect((await shop.get('/by-size?size=500', paymentFor(offer))).status).toBe(200)
    expect((await shop.get('/by-size?size=499', paymentFor(offer))).status).toBe(200)
    facilitator.forget()
    const refusedOne = await shop.get('/by-size?size=501', paymentFor(offer))
    expect(refusedOne.status).toBe(402)
    expect(offerOf(required(refusedOne)).amount).toBe('506')
    expect(facilitator.counts()).toEqual({ challenge: 1, verify: 0, settle: 0, payments: 0 })
  })

  it.each(['0', '-1', '1.5', '$1', '', '0x10', 1n << 248n])('of %s is a mistake named at once', (price) => {
    const svc = schemeFor(facilitator.url)
    expect(() => svc.accept({ price })).toThrowError(expect.objectContaining({ code: 'invalid_price' }))
  })

  it('in tokens is refused with the value and what it would be in base units', () => {
    const svc = schemeFor(facilitator.url)
    expect(() => svc.accept({ price: '1.5' })).toThrowError(
      /"1\.5" is no price: .* 1\.5 of a token with 6 decimals is 1500000 base units; baseUnits\('0\.01', 6\) converts/,
    )
    expect(svc.accept({ price: baseUnits('1.5', 6) })).toBeDefined()
  })

  it('that comes wrong out of a function is the mistake of the seller, not a challenge', async () => {
    expect((await shop.get('/by-size?size=cheap')).status).toBe(500)
    expect(facilitator.counts().challenge).toBe(0)
  })
})

describe('an accepts list with another scheme', () => {
  const exactOffer = { asset: token, amount: '7' }
  const exact: SchemeNetworkServer = {
    scheme: 'exact',
    defaultAssetTransferMethod: 'default',
    paymentFlows: { default: { supported: ['authorization'], default: 'authorization' } },
    parsePrice: async () => exactOffer,
    enhancePaymentRequirements: async (requirements) => requirements,
  }
  const exactClient: FacilitatorClient = {
    getSupported: async () => ({
      kinds: [{ x402Version: 2, scheme: 'exact', network }],
      extensions: [],
      signers: {},
    }),
    verify: async () => ({ isValid: true }),
    settle: async () => ({ success: true, transaction: burnTx, network }),
  }

  it('spends no challenge on a request that pays the other entry, and shows a fresh offer when that is refused', async () => {
    const svc = schemeFor(facilitator.url)
    const other = { scheme: 'exact', network, payTo: helper, price: '$1' } as const
    const routes = { 'GET /both': { accepts: [svc.accept({ price: '100' }), other] } }
    const withExact = (server: x402ResourceServer) => server.register(network, exact)
    const mixed = await openShop(svc, routes, [exactClient], withExact)
    try {
      const { accepts } = required(await mixed.get('/both'))
      expect(accepts.map(({ scheme }) => scheme)).toEqual(['svc-zerc20', 'exact'])
      expect(facilitator.counts().challenge).toBe(1)
      facilitator.forget()
      const exactEntry = accepts[1] as PaymentRequirements
      expect((await mixed.get('/both', paymentFor(exactEntry))).status).toBe(200)
      expect(facilitator.counts()).toEqual({ challenge: 0, verify: 0, settle: 0, payments: 0 })

      const tampered = await mixed.get('/both', paymentFor({ ...exactEntry, amount: '1' }))
      expect(tampered.status).toBe(402)
      const fresh = offerOf(required(tampered))
      expect(facilitator.counts()).toMatchObject({ challenge: 1, verify: 0, settle: 0 })
      expect((await mixed.get('/both', paymentFor(fresh))).status).toBe(200)
      expect((await mixed.get('/both', paymentFor(offerOf({ ...required(tampered), accepts })))).status).toBe(
        200,
      )
    } finally {
      await mixed.close()
    }
  })
})

describe('configuration', () => {
  it.each([
    ['invalid_network', { network: 'base' as never }],
    ['invalid_token', { token: '0x12' }],
    ['invalid_facilitator_url', { facilitatorUrl: 'ftp://user:hunter2@host' }],
    ['invalid_facilitator_url', { facilitatorUrl: 'not a url' }],
    ['seal_secret_too_short', { secret: 'x'.repeat(31) }],
    ['seal_secret_too_short', { secret: ['y'.repeat(32), 'short'] }],
    ['seal_secret_missing', { secret: [] }],
    ['seal_secret_missing', { secret: '' }],
    ['seal_secret_missing', { secret: undefined as never }],
    ['seal_secret_missing', { secret: ['y'.repeat(32), undefined as never] }],
  ])('fails with %s for %o, without printing secrets', (code, options) => {
    const create = () => schemeFor(facilitator.url, options)
    expect(create).toThrowError(expect.objectContaining({ code }))
    expect(create).toThrowError(/^(?!.*hunter2)/)
  })

  it('names every option that comes from a variable that is not set', () => {
    const unset = { network: undefined as never, token: '', facilitatorUrl: undefined as never, secret: '' }
    expect(() => schemeFor(facilitator.url, unset)).toThrowError(
      expect.objectContaining({
        code: 'option_missing',
        message: expect.stringContaining('not set: facilitatorUrl, network, token, secret.'),
      }),
    )
  })

  it('refuses extra fields that belong to the scheme', () => {
    const svc = schemeFor(facilitator.url)
    const extra = { helper: '0x00', paymentFlow: 'upfront' }
    expect(() => svc.accept({ price: '1', extra })).toThrowError(
      expect.objectContaining({ code: 'reserved_extra', message: 'extra may not set helper, paymentFlow' }),
    )
  })

  it('refuses an accepts entry written by hand', async () => {
    const svc = schemeFor(facilitator.url)
    const byHand = { scheme: 'svc-zerc20', network, payTo: helper } as const
    const wrong = await openShop(svc, {
      'GET /money': { accepts: { ...byHand, price: '$1' } },
      'GET /asset': { accepts: { ...byHand, price: { asset: token, amount: '1' } } },
    })
    try {
      expect((await wrong.get('/money')).status).toBe(500)
      expect((await wrong.get('/asset')).status).toBe(500)
    } finally {
      await wrong.close()
    }
  })

  it('sends credentials of the URL as a header, and prints them nowhere', async () => {
    const url = facilitator.url.replace('//', '//shop:p%40ss@')
    const guarded = schemeFor(url)
    const secured = await openShop(guarded, { 'GET /x': { accepts: guarded.accept({ price: '100' }) } })
    try {
      const payment = paymentFor(offerOf(required(await secured.get('/x'))))
      expect((await secured.get('/x', payment)).status).toBe(200)
      const expected = `Basic ${btoa('shop:p@ss')}`
      expect(facilitator.calls.map(({ authorization }) => authorization)).toEqual(Array(4).fill(expected))
      facilitator.script.challenge = () => 'drop'
      expect(await (await secured.get('/x')).text()).not.toMatch(/p@ss|p%40ss|shop:/)
    } finally {
      await secured.close()
    }
  })
})
