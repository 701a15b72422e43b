/** Tests that every official middleware must pass with every official client. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Buy, buyWithAxios, buyWithFetch, createPayer, modes } from './buyers.js'
import { type Interop, startInterop } from './network.js'
import { type Path, prices } from './shops.js'
import { offerOf, required } from './wire.js'

export type OpenShop = { readonly url: string; close(): Promise<void> }

const buyers: [string, (interop: Interop, payer: ReturnType<typeof createPayer>) => Buy][] = [
  ['@x402/fetch', buyWithFetch],
  ['@x402/axios', buyWithAxios],
]

/** Walks one seller's paths, each with both clients and both modes. */
export function describePurchases(
  seller: string,
  open: (interop: Interop) => Promise<OpenShop>,
  paths: readonly [Path, ...Path[]],
  /** More tests with the same network and shop. */
  more: (opened: () => { interop: Interop; shop: OpenShop }) => void = () => {},
): void {
  describe(`${seller} sells`, () => {
    let interop: Interop
    let shop: OpenShop
    beforeAll(async () => {
      interop = await startInterop()
      shop = await open(interop)
      // A development server compiles on the first request.
      for (const path of paths) await fetch(`${shop.url}${path}`)
    })
    afterAll(async () => {
      await shop.close()
      await interop.close()
    })
    beforeEach(() => interop.proxy.reset())

    more(() => ({ interop, shop }))
    describe.each(paths)('%s', (path) => {
      it(`R-133 an unpaid request to ${seller} costs one challenge and nothing else`, async () => {
        const response = await fetch(`${shop.url}${path}`)
        expect(response.status).toBe(402)
        expect(interop.proxy.paths()).toEqual(['/challenge'])
        const asked = interop.proxy.calls.filter(({ path }) => path === '/challenge')
        expect(asked.map(({ body }) => JSON.parse(body))).toEqual([{ amount: prices[path] }])
        const again = await fetch(`${shop.url}${path}`)
        expect(offerOf(required(again)).payTo).not.toBe(offerOf(required(response)).payTo)
        expectNothingOfTheResource(interop, shop.url, path)
      })

      for (const mode of modes) {
        it.each(buyers)(`R-043 R-133 R-134 %s buys from ${seller} by ${mode}`, async (_, buyer) => {
          const { payer, proxy, client } = interop
          const buy = buyer(interop, createPayer(interop, { mode }))
          const sent = await interop.sentBy(payer.address)
          const bought = await buy(`${shop.url}${path}`)
          expect(bought).toMatchObject({ status: 200, body: { bought: path } })
          expect(bought.receipt).toMatchObject({ success: true, network: 'eip155:31337' })
          expect(proxy.paths()).toEqual(['/challenge', '/verify', '/settle'])
          expectNothingOfTheResource(interop, shop.url, path)

          const transactionHash = bought.receipt?.transaction as `0x${string}`
          const burns = await interop.burnsTo(paidTo(interop))
          expect(burns).toEqual([{ value: BigInt(prices[path]), transactionHash }])
          const burn = await client.getTransactionReceipt({ hash: transactionHash })
          expect(burn.status).toBe('success')
          expect((await interop.sentBy(payer.address)) - sent).toBe(mode === 'permit' ? 0 : 1)
        })
      }
    })
  })
}

/** Expects that the facilitator saw neither the resource nor the seller. */
function expectNothingOfTheResource({ proxy }: Interop, shopUrl: string, path: string): void {
  const { port } = new URL(shopUrl)
  expect(proxy.calls.length).toBeGreaterThan(0)
  for (const { path: called, headers, body } of proxy.calls) {
    const { host: _, 'content-length': __, ...sent } = headers
    const seen = `${called} ${JSON.stringify(sent)} ${body}`
    for (const trace of [shopUrl, `:${port}`, path.slice(1), 'thought', 'seal']) {
      expect(seen).not.toContain(trace)
    }
  }
}

/** The one-time address of the purchase, as the facilitator was asked to verify it. */
function paidTo({ proxy }: Interop): string {
  const verified = proxy.calls.find(({ path }) => path === '/verify')
  return JSON.parse(verified?.body ?? '{}').paymentRequirements.payTo
}
