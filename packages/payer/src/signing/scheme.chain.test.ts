import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { callsDuring, startNetwork, type TestNetwork } from '../../test/network.js'
import { address, offerAt, randomHex } from '../../test/offers.js'
import { startPaywall } from '../../test/paywall.js'
import { createPayerScheme, type PayerOptions, withSpendControls } from '../index.js'

let net: TestNetwork
const closers: (() => Promise<void>)[] = []
beforeAll(async () => {
  net = await startNetwork()
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})
afterAll(() => net.close())

const paywall = async (
  ...options: Parameters<typeof startPaywall> extends [unknown, ...infer Rest] ? Rest : never
) => {
  const seller = await startPaywall(net, ...options)
  closers.push(seller.close)
  return seller
}
const createPayer = (options: Partial<PayerOptions> = {}) =>
  createPayerScheme({
    account: net.payer,
    rpcUrl: net.rpcUrl,
    network: net.network,
    allowedTokens: 'any',
    maxAmountPerPayment: 'unlimited',
    ...options,
  })
const stockFetch = (payer = createPayer()) =>
  wrapFetchWithPayment(
    fetch,
    withSpendControls(new x402Client(), [{ network: net.network, asset: net.token }]).register(
      net.network,
      payer,
    ),
  )
const newOffer = (extra: object = {}) =>
  offerAt(Math.floor(Date.now() / 1_000), {
    asset: net.token,
    payTo: randomHex(20),
    extra: { challengeNonce: randomHex(32), helper: net.helper, ...extra },
  })

describe('permit mode', () => {
  it('R-028 buys with signatures alone: the payer sends no transaction and spends no gas', async () => {
    const seller = await paywall()
    const gas = async () => ({
      wei: await net.client.getBalance(net.payer),
      sent: await net.sentBy(net.payer.address),
    })
    const before = await gas()
    const response = await stockFetch()(seller.url)
    expect([response.status, await response.text()]).toEqual([200, 'the resource'])
    expect(await gas()).toEqual(before)
    expect(await net.balanceOf(seller.offers[0]?.payTo as `0x${string}`)).toBe(1000n)
  })

  it('R-021 echoes the offer verbatim, unknown fields included', async () => {
    const unknown = { seal: '1000.abc', nested: { list: [1, { two: null }], text: 'ü' } }
    const offer = { extra: unknown, outputSchema: { type: 'object' }, later: 'field' }
    const seller = await paywall({ offer })
    expect((await stockFetch()(seller.url)).status).toBe(200)
    const [payment] = seller.presented
    expect(payment?.payment.accepted).toEqual(seller.offers[0])
    expect(payment?.payment.accepted).toMatchObject({ later: 'field', extra: unknown })
    expect(payment?.payment.x402Version).toBe(2)
  })

  it('R-035 signs the live nonce of the token, read with its name in one round trip', async () => {
    const payer = createPayer()
    const seen = await callsDuring(net.chain, () => payer.createPaymentPayload(2, newOffer()))
    // One round trip before it is for the code of a helper that was never seen.
    expect(seen).toEqual({ httpRequests: 2, calls: { eth_getCode: 1, eth_call: 3, eth_chainId: 1 } })
    const live = await net.permitNonce(net.payer.address)
    expect(live).toBeGreaterThan(0n)
    const fresh = await createPayer().createPaymentPayload(2, newOffer())
    expect(fresh.payload).toMatchObject({ permit: { nonce: `${live}` } })
  })

  it('reads only the nonce when it knows the token and the helper', async () => {
    const payer = createPayer({ limits: { nonceHoldMsMax: 0 } })
    await payer.createPaymentPayload(2, newOffer())
    const seen = await callsDuring(net.chain, () => payer.createPaymentPayload(2, newOffer()))
    expect(seen).toEqual({ httpRequests: 1, calls: { eth_call: 2 } })
  })

  it('makes one payload for one challenge, however often it is asked', async () => {
    const payer = createPayer()
    const offer = newOffer()
    const seen = await callsDuring(net.chain, async () => {
      const [first, ...others] = await Promise.all(
        Array.from({ length: 8 }, () => payer.createPaymentPayload(2, structuredClone(offer))),
      )
      for (const other of others) expect(other).toEqual(first)
      expect(await payer.createPaymentPayload(2, offer)).toEqual(first)
    })
    expect(seen.calls).toEqual({ eth_getCode: 1, eth_call: 3, eth_chainId: 1 })
  })

  it('signs nothing when the terms of a challenge change', async () => {
    const payer = createPayer()
    const offer = newOffer()
    await payer.createPaymentPayload(2, offer)
    const dearer = payer.createPaymentPayload(2, { ...offer, amount: '1001' })
    await expect(dearer).rejects.toMatchObject({ code: 'offer_changed' })
  })

  it('five purchases at once by one account sign five nonces and all succeed', async () => {
    const seller = await paywall()
    const buy = stockFetch()
    const before = await net.permitNonce(net.payer.address)
    const responses = await Promise.all(Array.from({ length: 5 }, () => buy(seller.url)))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await net.permitNonce(net.payer.address)).toBe(before + 5n)
    expect(seller.burns.size).toBe(5)
  })

  it('sends the same payload again when the burn is pending', async () => {
    const seller = await paywall({ steps: [{ reason: 'pending_burn', burn: true }, 'serve'] })
    const response = await stockFetch(createPayer({ limits: { resendDelayMs: 1 } }))(seller.url)
    expect(response.status).toBe(200)
    expect(seller.presented[1]?.header).toBe(seller.presented[0]?.header)
    expect([seller.presented.length, seller.burns.size]).toEqual([2, 1])
  })

  it('R-018 names what is wrong through the official client, too', async () => {
    const expired = await paywall({ offer: { extra: { expiresAt: 1 } } })
    await expect(stockFetch()(expired.url)).rejects.toThrow(/offer_expired.*fetch a fresh 402/)
    const other = await paywall()
    await expect(stockFetch(createPayer({ allowedHelpers: [net.token] }))(other.url)).rejects.toThrow(
      /offer_helper/,
    )
    expect([...expired.presented, ...other.presented]).toEqual([])
  })

  it('refuses an offer without the gasless path, or falls back when it was told to', async () => {
    const seller = await paywall({ offer: { extra: { helper: undefined, deadline: undefined } } })
    await expect(stockFetch()(seller.url)).rejects.toThrow(/permit_not_offered/)
    expect((await stockFetch(createPayer({ fallback: 'self-transfer' }))(seller.url)).status).toBe(200)
    expect(seller.presented[0]?.payment.payload).toHaveProperty('burnTxHash')
  })

  it('signs nothing while its endpoint serves another chain, and works again afterwards', async () => {
    const payer = createPayer()
    const offer = newOffer()
    net.chain.setFaults([{ method: 'eth_chainId', kind: 'result', value: '0x1', times: 1 }])
    await expect(payer.createPaymentPayload(2, offer)).rejects.toMatchObject({ code: 'wrong_chain' })
    await expect(payer.createPaymentPayload(2, offer)).resolves.toHaveProperty('payload.permit')
  })

  it('names the token when it cannot be read', async () => {
    const offer = { ...newOffer(), asset: address(5) }
    await expect(createPayer().createPaymentPayload(2, offer)).rejects.toMatchObject({
      code: 'chain_unavailable',
    })
  })

  it('a client without spend controls for the token refuses to pay, and pays with them', async () => {
    const seller = await paywall()
    const bare = wrapFetchWithPayment(fetch, new x402Client().register(net.network, createPayer()))
    await expect(bare(seller.url)).rejects.toThrow()
    const capped = withSpendControls(new x402Client(), [
      { network: net.network, asset: net.token, maxAmountPerPayment: '999' },
    ]).register(net.network, createPayer())
    await expect(wrapFetchWithPayment(fetch, capped)(seller.url)).rejects.toThrow()
    expect(seller.presented).toEqual([])
    expect((await stockFetch()(seller.url)).status).toBe(200)
  })
})
