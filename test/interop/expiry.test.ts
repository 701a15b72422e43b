import { setTimeout } from 'node:timers/promises'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../support/until.js'
import { modes } from './support/buyers.js'
import { type Interop, startInterop } from './support/network.js'
import { fetchOffer, payOffer } from './support/payments.js'
import { openExpressShop, type Shop } from './support/shops.js'
import { offerOf, paying, receipt, required } from './support/wire.js'

const config = { settlement: { receipt_poll_ms: 300 } }

let interop: Interop
let shop: Shop
/** How far the facilitator's clock runs ahead. */
let aheadMs = 0
const clock = {
  now: () => systemClock.now() + aheadMs,
  sleep: (ms: number, signal?: AbortSignal) =>
    setTimeout(ms, undefined, { ...(signal && { signal }) }).catch(() => undefined),
}
beforeAll(async () => {
  interop = await startInterop({ config, inProcess: { clock } })
  shop = await openExpressShop(interop, { limits: { recoveryPausesMs: [] }, clock })
})
beforeEach(() => {
  aheadMs = 0
  interop.proxy.reset()
})
afterAll(async () => {
  await shop.close()
  await interop.close()
})

const passTheExpiry = () => {
  aheadMs += 301_000
}

describe('an offer that has expired', () => {
  it.each(modes)('R-012 R-018 is refused by %s with a fresh one in its place', async (mode) => {
    const url = `${shop.url}/cheap`
    const offer = await fetchOffer(url)
    const payment = await payOffer(interop, offer, { mode })
    passTheExpiry()
    const before = shop.served()
    interop.proxy.forget()
    const refused = await fetch(url, paying(payment))
    expect(refused.status).toBe(402)
    expect(required(refused).error).toContain('challenge_expired')
    expect(interop.proxy.paths()).toEqual(['/verify', '/challenge'])
    expect(offerOf(required(refused)).payTo).not.toBe(offer.payTo)
    expect(shop.served()).toBe(before)
    const fresh = await fetchOffer(url)
    expect(fresh.payTo).not.toBe(offer.payTo)
    expect(fresh.extra.expiresAt).toBeGreaterThan(Number(offer.extra.expiresAt))
    // The facilitator burns nothing for it. A burn that the payer sent itself remains.
    expect(await interop.burnsTo(offer.payTo)).toHaveLength(mode === 'permit' ? 0 : 1)
  })

  it('R-113 still buys once when its burn was under way in time', async () => {
    const url = `${shop.url}/cheap`
    const offer = await fetchOffer(url)
    const payment = await payOffer(interop, offer)
    await interop.chain.pauseMining()
    const pending = await fetch(url, paying(payment))
    expect(receipt(pending).errorReason).toBe('pending_burn')
    await interop.chain.resumeMining()
    await until(async () => (await interop.burnsTo(offer.payTo)).length > 0)
    passTheExpiry()

    const served = await fetch(url, paying(payment))
    expect(served.status).toBe(200)
    expect(receipt(served)).toMatchObject({ success: true, transaction: receipt(pending).transaction })
    const elsewhere = await fetch(`${url}?another=1`, paying(payment))
    expect(required(elsewhere).error).toContain('already_accepted')
    expect(await interop.burnsTo(offer.payTo)).toHaveLength(1)
  })
})
