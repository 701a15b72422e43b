import { deliverPayments, type PayerScheme } from '@svc-zerc20/payer'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Buy, buyWithAxios, buyWithFetch, createPayer, modes } from './support/buyers.js'
import { type Interop, startInterop } from './support/network.js'
import { fetchOffer, payOffer } from './support/payments.js'
import { openExpressShop, openHonoShop, type Shop } from './support/shops.js'
import { paying, receipt } from './support/wire.js'

let interop: Interop
let shop: Shop
let honoShop: Shop
beforeAll(async () => {
  interop = await startInterop()
  shop = await openExpressShop(interop)
  honoShop = await openHonoShop(interop)
})
beforeEach(() => interop.proxy.reset())
afterAll(async () => {
  await Promise.all([shop.close(), honoShop.close()])
  await interop.close()
})

const statuses = (responses: readonly { status: number }[]) => responses.map(({ status }) => status).sort()
const tenfold = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: 10 }, make))

describe.each([
  ['@x402/express', () => shop],
  ['@x402/hono', () => honoShop],
])('ten identical payments at once to %s', (_, shopOf) => {
  for (const path of ['/upfront', '/cheap'] as const) {
    it.each(modes)(`by %s on ${path} run the handler once and get the same answer`, async (mode) => {
      const { url, served } = shopOf()
      const offer = await fetchOffer(`${url}${path}`)
      const payment = await payOffer(interop, offer, { mode })
      const before = served()
      const responses = await tenfold(() => fetch(`${url}${path}`, paying(payment)))
      expect(statuses(responses)).toEqual(Array(10).fill(200))
      expect(new Set(responses.map((response) => receipt(response).transaction)).size).toBe(1)
      expect(served()).toBe(before + 1)
      expect(await interop.burnsTo(offer.payTo)).toHaveLength(1)
    })

    it.each(modes)(`by %s on ${path}, each spelled in its own way, serve one`, async (mode) => {
      const { url, served } = shopOf()
      const offer = await fetchOffer(`${url}${path}`)
      const payment = await payOffer(interop, offer, { mode })
      const before = served()
      let spelling = 0
      const responses = await tenfold(() =>
        fetch(`${url}${path}`, paying({ ...payment, spelling: spelling++ })),
      )
      expect(statuses(responses)).toEqual([200, ...Array(9).fill(402)])
      expect(served()).toBe(before + 1)
      expect(await interop.burnsTo(offer.payTo)).toHaveLength(1)
    })
  }
})

const buyers: [string, (payer: PayerScheme) => Buy][] = [
  ['@x402/fetch', (payer) => buyWithFetch(interop, payer)],
  [
    '@x402/fetch over deliverPayments',
    (payer) => buyWithFetch(interop, payer, deliverPayments(fetch, payer)),
  ],
  ['@x402/axios', (payer) => buyWithAxios(interop, payer)],
]

describe('five different purchases at once by one account', () => {
  for (const mode of modes) {
    it.each(buyers)(`by ${mode} all succeed with %s`, async (_, buyer) => {
      const buy = buyer(createPayer(interop, { mode }))
      const urls = [shop, honoShop, shop, honoShop, shop].map(({ url }, at) => `${url}/cheap?order=${at}`)
      const bought = await Promise.all(urls.map((url) => buy(url)))
      expect(bought.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
      const paths = interop.proxy.paths()
      for (const path of ['/challenge', '/verify', '/settle']) {
        expect(paths.filter((each) => each === path)).toHaveLength(5)
      }
      const payTos = interop.proxy.calls
        .filter(({ path }) => path === '/verify')
        .map(({ body }) => JSON.parse(body).paymentRequirements.payTo)
      expect(new Set(payTos).size).toBe(5)
      for (const payTo of payTos) expect(await interop.burnsTo(payTo)).toHaveLength(1)
    })
  }
})

describe('three purchases at once that sign the same permit nonce', () => {
  it('all succeed: those that lose are signed again for the same challenge, and each burns once', async () => {
    // Payments do not wait for each other, so that all are signed with the current permit nonce.
    const limits = { nonceHoldMsMax: 0, contestedHoldMsMax: 0, resignsMax: 10, noncePollMs: 10 }
    const payer = createPayer(interop, { limits })
    const buy = buyWithFetch(interop, payer, deliverPayments(fetch, payer))
    const before = await interop.balanceOf(interop.payer.address)
    const bought = await Promise.all([1, 2, 3].map((order) => buy(`${shop.url}/cheap?together=${order}`)))
    expect(bought.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(before - (await interop.balanceOf(interop.payer.address))).toBe(3000n)
  })
})
