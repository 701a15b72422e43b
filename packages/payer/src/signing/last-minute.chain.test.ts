import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countSignatures } from '../../test/counting-account.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { startPaywall } from '../../test/paywall.js'
import { createPayerScheme, deliverPayments, type PayerLimits, withSpendControls } from '../index.js'

let net: TestNetwork
beforeAll(async () => {
  net = await startNetwork()
})
afterAll(() => net.close())

function createBuyer(
  over: (payer: ReturnType<typeof createPayerScheme>) => typeof fetch,
  limits: Partial<PayerLimits> = {},
) {
  const { account, signed } = countSignatures(net.payer)
  const payer = createPayerScheme({
    account,
    rpcUrl: net.rpcUrl,
    network: net.network,
    mode: 'self-transfer',
    allowedTokens: [net.token],
    maxAmountPerPayment: '1000',
    limits: { receiptPollMs: 5, ...limits },
  })
  const client = withSpendControls(new x402Client(), 'any').register(net.network, payer)
  return { buy: wrapFetchWithPayment(over(payer), client), signed }
}

const delivered = (payer: Parameters<typeof deliverPayments>[1]) => deliverPayments(fetch, payer)

/** Sells with offers of which the first ones are about to expire. */
const seller = (soonSeconds: number, soonOffers: number) =>
  startPaywall(net, {
    offer: (count) => {
      const expiresAt = Math.floor(Date.now() / 1_000) + (count < soonOffers ? soonSeconds : 300)
      return { extra: { expiresAt } }
    },
  })

describe('R-018 a self-transfer', () => {
  it('is not begun in the last minute of its offer: a fresh one is asked for and paid', async () => {
    const shop = await seller(55, 1)
    const { buy, signed } = createBuyer(delivered)
    expect((await buy(shop.url)).status).toBe(200)
    expect([shop.offers.length, signed.transactions]).toEqual([2, 1])
    expect(await net.balanceOf(shop.offers[0]?.payTo as Hex)).toBe(0n)
    expect(await net.balanceOf(shop.offers[1]?.payTo as Hex)).toBe(1000n)
    await shop.close()
  })

  it('is given up when no offer leaves time, after a bounded number of them', async () => {
    const shop = await seller(55, 100)
    const { buy, signed } = createBuyer(delivered)
    await expect(buy(shop.url)).rejects.toThrow(/offer_expired.*60 s are needed/)
    expect([shop.offers.length, signed.transactions]).toEqual([3, 0])
    await shop.close()
  })

  it('is refused by the payer itself under a client that asks only once', async () => {
    const shop = await seller(55, 1)
    const { buy, signed } = createBuyer(() => fetch)
    await expect(buy(shop.url)).rejects.toThrow(/offer_expired/)
    expect(signed.transactions).toBe(0)
    await shop.close()
  })

  it('is begun with more than a minute left', async () => {
    const shop = await seller(70, 1)
    const { buy } = createBuyer(delivered)
    expect((await buy(shop.url)).status).toBe(200)
    expect(shop.offers).toHaveLength(1)
    await shop.close()
  })
})
