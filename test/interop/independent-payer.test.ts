import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { shopRoutes } from '@svc-zerc20/devnet'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { payIndependently } from './independent-payer.js'
import { type Interop, startInterop } from './support/network.js'

const shopScript = fileURLToPath(new URL('../../examples/dist/shop.js', import.meta.url))
const source = new URL('./independent-payer.ts', import.meta.url)

const routes = Object.entries(shopRoutes)

let interop: Interop
beforeAll(async () => {
  interop = await startInterop({ shopScript })
})
afterAll(() => interop.close())

describe('a payer that knows nothing but the description of the service', () => {
  it('uses none of our packages', () => {
    const imported = [...readFileSync(source, 'utf8').matchAll(/from '([^']+)'/g)].map(([, name]) => name)
    expect(imported).toEqual(['viem'])
  })

  describe.each([
    ['permit', 'R-024 R-035 R-036'],
    ['self-transfer', 'R-029 R-032'],
  ] as const)('by %s', (shape, rows) => {
    it.each(routes)(`${rows} buys the %s route`, async (_, { path, price }) => {
      const { rpcUrl, payer, shopUrl } = interop
      const paid = await payIndependently({ url: `${shopUrl}${path}`, account: payer, rpcUrl, shape })
      expect(paid).toMatchObject({ status: 200, amount: BigInt(price) })
      expect(JSON.parse(paid.body)).toHaveProperty('thought')
      expect(paid.settled).toMatchObject({
        success: true,
        network: 'eip155:31337',
        extra: { phase: 'accepted' },
      })
      expect(await interop.burnsTo(paid.payTo)).toEqual([
        { value: paid.amount, transactionHash: paid.settled?.transaction },
      ])
    })
  })

  it('is told the reason when it holds nothing', async () => {
    const account = privateKeyToAccount(`0x${'7'.repeat(64)}`)
    const { rpcUrl, shopUrl } = interop
    const url = `${shopUrl}${shopRoutes.cheap.path}`
    const refused = await payIndependently({ url, account, rpcUrl, shape: 'permit' })
    expect(refused).toMatchObject({
      status: 402,
      error: expect.stringMatching(/^insufficient_funds: /),
      settled: undefined,
    })
    expect(await interop.burnsTo(refused.payTo)).toEqual([])
  })
})

describe('the example shop', () => {
  it.each(routes)(
    'gives nothing of its %s route to a HEAD, and sells it under GET only',
    async (_, { path }) => {
      const url = `${interop.shopUrl}${path}`
      const head = await fetch(url, { method: 'HEAD' })
      expect(head.status).toBe(402)
      expect(head.headers.has('payment-required')).toBe(false)
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        expect(await (await fetch(url, { method })).text()).not.toContain('thought')
      }
    },
  )
})
