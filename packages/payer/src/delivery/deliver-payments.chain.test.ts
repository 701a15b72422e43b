import { Headers } from '@svc-zerc20/protocol'
import { wrapAxiosWithPayment, x402Client as x402AxiosClient } from '@x402/axios'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import axios from 'axios'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import type { OfferChanges } from '../../test/offers.js'
import { type Step, startPaywall } from '../../test/paywall.js'
import {
  createPayerScheme,
  deliverPayments,
  type PayerOptions,
  systemClock,
  withSpendControls,
} from '../index.js'
import { payerErrors } from '../payer-error.js'

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
    await expect(buy(seller.url)).rejects.toMatchObject({ code: 'payment_pending', reason: 'pending_burn' })
    await expect(buy(seller.url)).rejects.toMatchObject({ code: 'payment_pending' })
    await expect(buy(seller.url)).rejects.toMatchObject({ code: 'payment_pending' })
    expect((await buy(seller.url)).status).toBe(200)
    expect([headers(seller).size, seller.offers.length]).toEqual([1, 1])
  })

  it('that has to wait for another burn of the payer is presented again by itself', async () => {
    const seller = await paywall([{ reason: 'payer_must_wait' }, { reason: 'payer_must_wait' }, 'serve'])
    expect((await buyer({ mode })(seller.url)).status).toBe(200)
    expect([seller.presented.length, headers(seller).size, seller.offers.length]).toEqual([3, 1, 1])
  })

  it('that was refused for good after its burn is told to be paid, before anything is paid again', async () => {
    const seller = await paywall(['break', { reason: 'challenge_expired' }, 'serve'])
    const buy = buyer({ mode })
    await expect(buy(seller.url)).rejects.toThrow()
    await expect(buy(seller.url)).rejects.toMatchObject({
      code: 'payment_refused',
      reason: 'challenge_expired',
      detail: expect.stringContaining('this was paid for'),
    })
    expect([headers(seller).size, seller.offers.length]).toEqual([1, 1])
    expect((await buy(seller.url)).status).toBe(200)
    expect([headers(seller).size, seller.offers.length]).toEqual([2, 2])
  })

  it('without a verdict is not paid a second time when its offer expires, until it is forgotten', async () => {
    const trouble: Step = { reason: 'internal_error' }
    const seller = await paywall(['break', trouble, trouble, 'serve'])
    let aheadMs = 0
    const buy = buyer({ mode, clock: { ...systemClock, now: () => systemClock.now() + aheadMs } })
    await expect(buy(seller.url)).rejects.toThrow()
    aheadMs = 1_000_000
    await expect(buy(seller.url)).rejects.toMatchObject({ reason: 'internal_error' })
    expect([headers(seller).size, seller.offers.length]).toEqual([1, 1])
    aheadMs = 5_000_000
    await expect(buy(seller.url)).rejects.toMatchObject({
      code: 'payment_refused',
      detail: expect.stringContaining('this was paid for'),
    })
    expect([headers(seller).size, seller.offers.length]).toEqual([1, 1])
    await buy(seller.url).catch(() => undefined)
    // To a clock that far ahead the fresh offers are stale; that it asks for them is the point.
    expect(seller.offers.length).toBeGreaterThan(1)
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

  it('signs again for the same challenge when another payment used the permit nonce, and burns once for each', async () => {
    let answer = () => {}
    const slow = await paywall([{ after: new Promise<void>((resolve) => (answer = resolve)) }])
    const quick = await paywall([])
    const buy = buyer({ limits: { nonceHoldMsMax: 0 } })
    const held = await net.balanceOf(net.payer.address)
    const bought = buy(slow.url)
    while (slow.presented.length === 0) await new Promise(setImmediate)
    expect((await buy(quick.url)).status).toBe(200)
    answer()
    expect((await bought).status).toBe(200)
    const permits = slow.presented.map(({ payment }) => payment.payload.permit as { nonce: string })
    expect(permits.map(({ nonce }) => BigInt(nonce) - BigInt(permits[0]?.nonce ?? 0))).toEqual([0n, 1n])
    expect(headers(slow).size).toBe(2)
    expect([slow.offers.length, slow.burns.size]).toEqual([1, 1])
    expect(held - (await net.balanceOf(net.payer.address))).toBe(2000n)
  })

  it('says why a payment was refused, what to do, and where it was burned', async () => {
    const seller = await paywall([
      { reason: 'insufficient_funds' },
      { reason: 'challenge_expired', burn: true },
    ])
    const refused = { name: 'PayerError', code: 'payment_refused' }
    await expect(buyer()(seller.url)).rejects.toMatchObject({
      name: 'PayerError',
      code: 'payment_pending', // the seller has the signatures, whatever it says
      reason: 'insufficient_funds',
      message: expect.stringContaining('The payer holds less than the amount'),
      todo: payerErrors.payment_pending.todo,
      burnTxHash: undefined,
    })
    const late = await buyer({ mode: 'self-transfer' })(seller.url).catch((error) => error)
    expect(late).toMatchObject({ ...refused, reason: 'challenge_expired', burnTxHash: expect.any(String) })
    expect(late.message).toContain(late.burnTxHash)
    expect(late.todo).toContain('Ask the seller')
    const permit = await buyer()((await paywall([{ reason: 'challenge_expired', burn: true }])).url).catch(
      (error) => error,
    )
    expect(permit).toMatchObject({ ...refused, todo: late.todo })
    expect(permit.message).toContain('this was paid for')
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

  it('presents a payment nowhere but where its offer came from, and does not say that nothing was signed', async () => {
    const seller = await paywall([])
    const payer = createPayer()
    const through = deliverPayments(fetch, payer)
    await through(seller.url)
    const [accepted] = seller.offers
    if (!accepted) throw new Error('nothing was offered')
    const { payload } = await payer.createPaymentPayload(2, accepted)
    const header = Headers.encode({ x402Version: 2, accepted, payload })
    const present = (url: string) => through(url, { headers: { [Headers.paymentSignature]: header } })
    await expect(present(`${seller.url}?other`)).rejects.toMatchObject({ code: 'payment_pending' })
    expect(seller.presented).toEqual([])
    expect((await present(seller.url)).status).toBe(200)
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
