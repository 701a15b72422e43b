import type { PaymentRequirements } from '@x402/core/types'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  accepted,
  burnTx,
  helper,
  network,
  refused,
  startFacilitator,
  type TestFacilitator,
  token,
} from '../test/facilitator.js'
import { offerOf, openShop, paymentFor, receipt, required, schemeFor } from '../test/shop.js'

type Shop = Awaited<ReturnType<typeof openShop>>

let facilitator: TestFacilitator
let shop: Shop

beforeAll(async () => {
  facilitator = await startFacilitator()
  const svc = schemeFor(facilitator.url)
  shop = await openShop(svc, {
    'GET /cheap': { accepts: svc.accept({ price: '100' }), description: 'a secret product' },
    'GET /dear': { accepts: svc.accept({ price: 10_000n }) },
    'GET /upfront': { accepts: svc.accept({ price: '100', upfront: true }) },
    'GET /fails': { accepts: svc.accept({ price: '100' }) },
    'GET /by-size': {
      accepts: svc.accept({ price: ({ adapter }) => BigInt(adapter.getUrl().split('size=')[1] ?? 0) }),
    },
    'GET /described': {
      accepts: svc.accept({
        price: '100',
        resource: 'https://shop.example/described',
        description: 'words',
        mimeType: 'text/plain',
        outputSchema: { type: 'object', properties: { a: { type: 'string' } } },
        extra: { sku: 'A-1' },
      }),
    },
  })
})
beforeEach(() => facilitator.forget())
afterEach(() => {
  Object.assign(facilitator.script, defaults)
})
afterAll(async () => {
  await shop.close()
  await facilitator.close()
})

let defaults: TestFacilitator['script']
beforeAll(() => {
  defaults = { ...facilitator.script }
})

const offerFor = async (path: string) => offerOf(required(await shop.get(path)))

describe('an unpaid request', () => {
  it('R-133 costs exactly one challenge and answers 402 with its offer', async () => {
    const response = await shop.get('/cheap')
    expect(response.status).toBe(402)
    expect(facilitator.counts()).toEqual({ challenge: 1, verify: 0, settle: 0, payments: 0 })
    expect(facilitator.calls.find(({ path }) => path === '/challenge')?.body).toEqual({ amount: '100' })
    expect(offerOf(required(response))).toMatchObject({
      scheme: 'svc-zerc20',
      network,
      asset: token,
      amount: '101',
      maxTimeoutSeconds: expect.any(Number),
      extra: { helper, fee: { amount: '1', bps: 100 } },
    })
  })
})

describe('a paid request', () => {
  it('R-134 is verified, handled and settled, and costs no challenge', async () => {
    const payment = paymentFor(await offerFor('/cheap'))
    facilitator.forget()
    const response = await shop.get('/cheap', payment)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ bought: '/cheap' })
    expect(receipt(response)).toEqual(accepted)
    expect(facilitator.calls.map(({ path }) => path)).toEqual(['/verify', '/settle'])
  })
})
