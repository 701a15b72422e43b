import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { wrapAxiosWithPayment, x402Client as x402AxiosClient } from '@x402/axios'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import axios from 'axios'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startNetwork, type TestNetwork } from '../test/network.js'
import type { OfferChanges } from '../test/offers.js'
import { type Step, startPaywall } from '../test/paywall.js'
import { createPayerScheme, deliverPayments, type PayerOptions, withSpendControls } from './index.js'

let net: TestNetwork
const closers: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  net = await startNetwork()
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await net.chain.dropPending()
  await net.chain.resumeMining()
})
afterAll(() => net.close())

async function paywall(steps: Step[], offer: OfferChanges = {}) {
  const seller = await startPaywall(net, { steps, offer })
  closers.push(seller.close)
  return seller
}
const createPayer = ({ limits, ...options }: Partial<PayerOptions> = {}) =>
  createPayerScheme({
    account: net.payer,
    rpcUrl: net.rpcUrl,
    network: net.network,
    allowedTokens: 'any',
    maxAmountPerPayment: 'unlimited',
    limits: { resendDelayMs: 1, receiptPollMs: 5, noncePollMs: 5, ...limits },
    ...options,
  })
const buyer = (options?: Partial<PayerOptions>) => {
  const payer = createPayer(options)
  const client = withSpendControls(new x402Client(), 'any').register(net.network, payer)
  return wrapFetchWithPayment(deliverPayments(fetch, payer), client)
}
const pending: Step = { reason: 'pending_burn', burn: true }
const headers = (seller: { presented: readonly { header: string }[] }) =>
  new Set(seller.presented.map((p) => p.header))

describe.each(['permit', 'self-transfer'] as const)('a payment by %s', (mode) => {
  it('is sent again while its burn is pending, more often than the official client would', async () => {
    const seller = await paywall([pending, pending, pending, 'serve'])
    expect((await buyer({ mode })(seller.url)).status).toBe(200)
    expect([seller.presented.length, headers(seller).size, seller.offers.length]).toEqual([4, 1, 1])
  })

  it('whose answer was lost is presented again by the next request, instead of another payment', async () => {
    const seller = await paywall(['break'])
    const buy = buyer({ mode })
    await expect(buy(seller.url)).rejects.toThrow()
    const held = await net.balanceOf(net.payer.address)
    expect((await buy(seller.url)).status).toBe(200)
    expect([seller.presented.length, headers(seller).size, seller.offers.length]).toEqual([2, 1, 1])
    expect(await net.balanceOf(net.payer.address)).toBe(held)
  })

  it('that stays pending is not followed by a second one', async () => {
    const seller = await paywall([pending, pending, pending, pending, 'serve'])
    const buy = buyer({ mode, limits: { resendsMax: 1 } })
    expect((await buy(seller.url)).status).toBe(402)
    await expect(buy(seller.url)).rejects.toMatchObject({ code: 'payment_pending' })
    await expect(buy(seller.url)).rejects.toMatchObject({ code: 'payment_pending' })
    expect((await buy(seller.url)).status).toBe(200)
    expect([headers(seller).size, seller.offers.length]).toEqual([1, 1])
  })

  it('that was refused for good gives way to a fresh one', async () => {
    const seller = await paywall(['break', { reason: 'challenge_expired' }, 'serve'])
    const buy = buyer({ mode })
    await expect(buy(seller.url)).rejects.toThrow()
    expect((await buy(seller.url)).status).toBe(200)
    expect([headers(seller).size, seller.offers.length]).toEqual([2, 2])
  })

  it('that was delivered is not presented again', async () => {
    const seller = await paywall([])
    const buy = buyer({ mode })
    expect((await buy(seller.url)).status).toBe(200)
    expect((await buy(seller.url)).status).toBe(200)
    expect([headers(seller).size, seller.offers.length]).toEqual([2, 2])
  })

  it('goes only where it was made for', async () => {
    const seller = await paywall(['break'])
    const other = await paywall([])
    const buy = buyer({ mode })
    await expect(buy(seller.url)).rejects.toThrow()
    expect((await buy(other.url)).status).toBe(200)
    expect((await buy(`${seller.url}?other`)).status).toBe(200)
    expect(headers(other).size).toBe(1)
    expect(new Set([...headers(seller), ...headers(other)]).size).toBe(3)
  })
})

describe('delivery', () => {
  it('R-030 waits for an unconfirmed transfer when the request is made again, and burns nothing more', async () => {
    const seller = await paywall([])
    const buy = buyer({ mode: 'self-transfer', limits: { receiptWaitMsMax: 50 } })
    await net.chain.pauseMining()
    await expect(buy(seller.url)).rejects.toThrow(/burn_unconfirmed.*0x[0-9a-f]{64}/)
    await expect(buy(seller.url)).rejects.toMatchObject({ code: 'burn_unconfirmed' })
    const sent = await net.sentBy(net.payer.address)
    await net.chain.mine()
    expect((await buy(seller.url)).status).toBe(200)
    expect(await net.sentBy(net.payer.address)).toBe(sent)
    expect(seller.presented[0]?.payment.accepted).toEqual(seller.offers[0])
    expect(seller.offers.length).toBe(1)
  })

  it('frees the permit nonce as soon as a handler failed', async () => {
    const seller = await paywall([500])
    const buy = buyer({ limits: { nonceHoldMsMax: 3_600_000 } })
    expect((await buy(seller.url)).status).toBe(500)
    expect((await buy(`${seller.url}?other`)).status).toBe(200)
  })

  it('sends bodies again, too', async () => {
    const seller = await paywall([pending])
    const response = await buyer()(seller.url, { method: 'POST', body: 'ask' })
    expect(response.status).toBe(200)
  })

  it('never lets a payment follow a redirect', async () => {
    const thief = await paywall([])
    const server = createServer((request, response) => {
      if (request.headers['payment-signature']) return response.writeHead(307, { location: thief.url }).end()
      fetch(thief.url).then((unpaid) =>
        response.writeHead(402, { 'payment-required': unpaid.headers.get('payment-required') ?? '' }).end(),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(async () => {
      server.closeAllConnections()
      server.close()
    })
    const response = await buyer()(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    expect(response.status).toBe(307)
    expect(thief.presented).toEqual([])
  })

  it('leaves payments of other schemes and unreadable ones alone', async () => {
    const seller = await paywall([418, 418])
    const through = deliverPayments(fetch, createPayer())
    for (const header of ['e30=', btoa(JSON.stringify({ accepted: { scheme: 'exact' }, payload: {} }))]) {
      expect((await through(seller.url, { headers: { 'PAYMENT-SIGNATURE': header } })).status).toBe(418)
    }
  })
})

describe('with axios 2.11 on its older core', () => {
  const axiosBuyer = (options?: Partial<PayerOptions>, delivered = true) => {
    const payer = createPayer(options)
    const instance = axios.create(
      delivered ? { adapter: 'fetch', env: { fetch: deliverPayments(fetch, payer) } } : {},
    )
    const client = withSpendControls(new x402AxiosClient(), 'any').register(net.network, payer)
    return wrapAxiosWithPayment(instance, client)
  }

  it.each(['permit', 'self-transfer'] as const)('buys by %s', async (mode) => {
    const seller = await paywall([])
    expect((await axiosBuyer({ mode }, false).get(seller.url)).data).toBe('the resource')
    expect(seller.presented[0]?.payment.accepted).toEqual(seller.offers[0])
  })

  it('five purchases at once wait for each other by the chain alone', async () => {
    const seller = await paywall([])
    const buy = axiosBuyer({}, false)
    const answers = await Promise.all(Array.from({ length: 5 }, () => buy.get(seller.url)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  })

  it('sends pending payments again and presents lost ones when its fetch delivers', async () => {
    const seller = await paywall([pending, pending, 'break'])
    const buy = axiosBuyer()
    await expect(buy.get(seller.url)).rejects.toThrow()
    expect((await buy.get(seller.url)).data).toBe('the resource')
    expect([seller.presented.length, headers(seller).size, seller.offers.length]).toEqual([4, 1, 1])
  })
})
