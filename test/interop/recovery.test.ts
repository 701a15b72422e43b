import { developmentRoles } from '@svc-zerc20/devnet'
import { deliverPayments } from '@svc-zerc20/payer'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../support/until.js'
import { buyWithAxios, buyWithFetch, createPayer } from './support/buyers.js'
import { type Interop, startInterop } from './support/network.js'
import { fetchOffer, payOffer } from './support/payments.js'
import { openExpressShop, openHonoShop, type Shop } from './support/shops.js'
import { paying, receipt } from './support/wire.js'

const relayer = developmentRoles.relayer.address
// Long enough for a burn on a busy machine, short enough for a test.
const config = { settlement: { receipt_poll_ms: 1_000 } }

let interop: Interop
let shop: Shop
const closers: (() => Promise<void>)[] = []
beforeAll(async () => {
  interop = await startInterop({ config })
  shop = await openExpressShop(interop)
})
beforeEach(() => interop.proxy.reset())
afterEach(async () => {
  await interop.chain.resumeMining()
  await Promise.all(closers.splice(0).map((close) => close()))
})
afterAll(async () => {
  await shop.close()
  await interop.close()
})

const statusOf = async (challengeNonce: unknown) =>
  (await fetch(`${interop.facilitatorUrl}/payments/${challengeNonce}`)).json()
const settles = () => interop.proxy.paths().filter((path) => path === '/settle').length

describe('a burn that is not mined in time', () => {
  it.each([
    ['@x402/fetch', buyWithFetch],
    ['@x402/axios', buyWithAxios],
  ])('R-113 R-132 R-154 is recovered by the shop: %s sees a plain 200, after one burn', async (_, buyer) => {
    const before = shop.served()
    await interop.chain.pauseMining()
    interop.proxy.meet('/settle', async ({ forward }) => {
      const answer = await forward()
      expect(JSON.parse(answer.body)).toMatchObject({ success: false, errorReason: 'pending_burn' })
      expect(JSON.parse(answer.body).transaction).toMatch(/^0x[0-9a-f]{64}$/)
      await interop.chain.resumeMining()
      return answer
    })
    const bought = await buyer(interop, createPayer(interop))(`${shop.url}/cheap`)
    expect(bought).toMatchObject({ status: 200, receipt: { success: true } })
    expect(settles()).toBeGreaterThan(1)
    expect(shop.served()).toBe(before + 1)
    const { payTo } = verified()
    expect(await interop.burnsTo(payTo)).toEqual([
      { value: 1000n, transactionHash: bought.receipt?.transaction },
    ])
  })

  it('outlasting the shop is delivered by the payer, who sends the same payment again', async () => {
    const impatient = await openExpressShop(interop, { limits: { recoveryPausesMs: [] } })
    closers.push(impatient.close)
    await interop.chain.pauseMining()
    interop.proxy.meet('/settle', async ({ forward }) => {
      const answer = await forward()
      await interop.chain.resumeMining()
      return answer
    })
    const payer = createPayer(interop, { limits: { resendDelayMs: 50 } })
    const bought = await buyWithFetch(interop, payer, deliverPayments(fetch, payer))(`${impatient.url}/cheap`)
    expect(bought).toMatchObject({ status: 200, receipt: { success: true } })
    expect(settles()).toBeGreaterThan(1)
    expect(interop.proxy.paths().filter((path) => path === '/challenge')).toHaveLength(1)
    expect(await interop.burnsTo(verified().payTo)).toHaveLength(1)
  })

  it('R-135 is told to the payer with its hash when nobody waits any longer, and can be had later', async () => {
    const impatient = await openHonoShop(interop, { limits: { recoveryPausesMs: [] } })
    closers.push(impatient.close)
    const url = `${impatient.url}/cheap`
    const offer = await fetchOffer(url)
    const payment = await payOffer(interop, offer)
    await interop.chain.pauseMining()
    const refused = await fetch(url, paying(payment))
    expect(refused.status).toBe(402)
    expect(await refused.text()).not.toContain('bought')
    const { errorReason, transaction } = receipt(refused)
    expect(errorReason).toBe('pending_burn')

    await interop.chain.resumeMining()
    await until(async () => (await statusOf(offer.extra.challengeNonce)).phase === 'accepted')
    const served = await fetch(url, paying(payment))
    expect(served.status).toBe(200)
    expect(receipt(served)).toMatchObject({ success: true, transaction })
    expect(await interop.burnsTo(offer.payTo)).toHaveLength(1)
  })
})

describe('a settle whose answer does not arrive', () => {
  it('R-132 because the connection broke while it burned is asked for and sent again: one burn, one 200', async () => {
    const before = shop.served()
    await interop.chain.pauseMining()
    interop.proxy.meet('/settle', async ({ forward, cut }) => {
      const lost = forward().catch(() => undefined)
      await until(() => interop.hasPending(relayer))
      cut()
      await lost
      await interop.chain.resumeMining()
      return 'drop'
    })
    const bought = await buyWithFetch(interop, createPayer(interop))(`${shop.url}/cheap`)
    expect(bought).toMatchObject({ status: 200, receipt: { success: true } })
    const { payTo, extra } = verified()
    expect(interop.proxy.paths().slice(0, 5)).toEqual([
      '/challenge',
      '/verify',
      '/settle',
      `/payments/${extra.challengeNonce}`,
      '/settle',
    ])
    expect(shop.served()).toBe(before + 1)
    expect(await interop.burnsTo(payTo)).toHaveLength(1)
  })

  it('because the facilitator could not be reached at all burns once, when it is reached again', async () => {
    interop.proxy.meet('/settle', async () => 'drop')
    const bought = await buyWithFetch(interop, createPayer(interop))(`${shop.url}/cheap`)
    expect(bought).toMatchObject({ status: 200, receipt: { success: true } })
    expect(settles()).toBeGreaterThan(1)
    expect(await interop.burnsTo(verified().payTo)).toHaveLength(1)
  })

  // The facilitator wrote its one success. It cannot know whether the answer was lost on the way.
  it('though it was written is not granted a second time: the payer learns the burn and is not served', async () => {
    const url = `${shop.url}/cheap`
    const offer = await fetchOffer(url)
    const payment = await payOffer(interop, offer)
    interop.proxy.meet('/settle', async ({ forward }) => {
      await forward()
      return 'drop'
    })
    const refused = await fetch(url, paying(payment))
    expect(refused.status).toBe(402)
    expect(await refused.text()).not.toContain('bought')
    const [burn] = await interop.burnsTo(offer.payTo)
    expect(receipt(refused)).toMatchObject({
      success: false,
      errorReason: 'already_accepted',
      transaction: burn?.transactionHash,
    })
    expect(await statusOf(offer.extra.challengeNonce)).toMatchObject({
      phase: 'accepted',
      transaction: burn?.transactionHash,
    })
    expect(await interop.burnsTo(offer.payTo)).toHaveLength(1)
  })

  it('because the 200 was lost on its way to the payer costs nothing: the same payment gets the same bytes', async () => {
    let lose = true
    const lossy: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!lose || !response.headers.has('PAYMENT-RESPONSE')) return response
      lose = false
      throw new TypeError('connection lost')
    }
    const payer = createPayer(interop)
    const buy = buyWithFetch(interop, payer, deliverPayments(lossy, payer))
    const url = `${shop.url}/cheap`
    const burned = () => interop.balanceOf(interop.payer.address)
    const before = await burned()
    const ran = shop.served()
    await expect(buy(url)).rejects.toThrow('connection lost')
    expect(await buy(url)).toMatchObject({ status: 200, receipt: { success: true } })
    expect(before - (await burned())).toBe(1000n)
    expect(shop.served()).toBe(ran + 1)
    expect(await buy(url)).toMatchObject({ status: 200 })
    expect(before - (await burned())).toBe(2000n)
  })

  it('ever is a 502 without payment headers, so that nobody is asked to pay again', async () => {
    const impatient = await openExpressShop(interop, { limits: { recoveryPausesMs: [10, 10] } })
    closers.push(impatient.close)
    const url = `${impatient.url}/cheap`
    const offer = await fetchOffer(url)
    const payment = await payOffer(interop, offer)
    interop.proxy.meet('/settle', async () => 'drop', 3)
    const response = await fetch(url, paying(payment))
    expect(response.status).toBe(502)
    expect(response.headers.has('PAYMENT-REQUIRED')).toBe(false)
    expect(response.headers.has('PAYMENT-RESPONSE')).toBe(false)
    expect(await interop.burnsTo(offer.payTo)).toEqual([])
    expect((await fetch(url, paying(payment))).status).toBe(200)
  })
})

describe('a settle that is refused', () => {
  it.each([
    ['@x402/express', openExpressShop],
    ['@x402/hono', openHonoShop],
  ])('R-130 R-135 R-161 after the handler ran makes %s withhold the response', async (_, open) => {
    const spender = await interop.anotherPayer(0)
    // Between verify and settle the payer moves its balance away.
    const emptied = await open(interop, {
      onHandle: async () => {
        const balance = await interop.balanceOf(spender.address)
        await interop.transfer(spender, developmentRoles.provider.address, balance)
      },
    })
    closers.push(emptied.close)
    const url = `${emptied.url}/cheap`
    const offer = await fetchOffer(url)
    interop.proxy.forget()
    const refused = await fetch(url, paying(await payOffer(interop, offer, { account: spender })))
    expect(interop.proxy.paths()).toEqual(['/verify', '/settle'])
    expect(emptied.served()).toBe(1)
    expect(refused.status).toBe(402)
    expect(await refused.text()).not.toContain('bought')
    expect(receipt(refused)).toMatchObject({
      success: false,
      errorReason: 'insufficient_funds',
      transaction: '',
    })
    expect(await interop.burnsTo(offer.payTo)).toEqual([])
  })
})

/** The requirements of the one purchase since the last `forget`. */
function verified() {
  const call = interop.proxy.calls.find(({ path }) => path === '/verify')
  return JSON.parse(call?.body ?? '{}').paymentRequirements
}
