import type { ChallengeNonce, Offer } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { jumpingClock } from '../../../../test/support/clocks.js'
import { bytes32, offerAt } from '../../test/offers.js'
import { createPaymentMemory, type PaymentRecord } from './payments.js'

const setUp = (paymentsMax = 100) => {
  const clock = jumpingClock()
  const memory = createPaymentMemory({ clock, limits: { paymentsMax, retentionSeconds: 3_600 } })
  const record = (n: number, changes: Partial<PaymentRecord> = {}): PaymentRecord => ({
    challengeNonce: bytes32(n) as ChallengeNonce,
    accepted: offerAt(Math.floor(clock.now() / 1_000)) as Offer.PaymentRequirements,
    delivery: 'open',
    resends: 0,
    ...changes,
  })
  const put = (one: PaymentRecord) => memory.update(one.challengeNonce, () => one)
  return { clock, memory, record, put }
}

describe('the memory of payments', () => {
  it('gives back what was put and forgets what is dropped', async () => {
    const { memory, record, put } = setUp()
    await put(record(1))
    expect(await memory.get(record(1).challengeNonce)).toEqual(record(1))
    await memory.update(record(1).challengeNonce, () => undefined)
    expect(await memory.get(record(1).challengeNonce)).toBeUndefined()
  })

  it('refuses a payment when full rather than forget an unexpired one', async () => {
    const { memory, record, put } = setUp(2)
    await put(record(1))
    await put(record(2))
    await expect(put(record(3))).rejects.toMatchObject({ code: 'memory_full' })
    await put(record(2, { delivery: 'delivered' }))
    expect(await memory.get(record(1).challengeNonce)).toBeDefined()
  })

  it('makes room from offers that expired longer ago than the retention', async () => {
    const { clock, memory, record, put } = setUp(2)
    const old = record(1)
    await put(old)
    clock.advance((300 + 3_599) * 1_000)
    await put(record(2))
    await expect(put(record(3))).rejects.toMatchObject({ code: 'memory_full' })
    clock.advance(1_000)
    await put(record(3))
    expect(await memory.get(old.challengeNonce)).toBeUndefined()
  })

  it('gives an undelivered payment of a request to exactly one of many callers', async () => {
    const { memory, record, put } = setUp()
    await put(record(1, { delivery: 'undelivered', request: 'GET http://shop/a' }))
    await put(record(2, { delivery: 'delivered', request: 'GET http://shop/a' }))
    const claims = await Promise.all(
      Array.from({ length: 5 }, () => memory.claimUndelivered('GET http://shop/a')),
    )
    expect(claims.filter((claim) => claim !== undefined)).toEqual([
      record(1, { delivery: 'open', request: 'GET http://shop/a' }),
    ])
  })

  it('never gives a payment to another request', async () => {
    const { memory, record, put } = setUp()
    await put(record(1, { delivery: 'undelivered', request: 'GET http://shop/a' }))
    expect(await memory.claimUndelivered('POST http://shop/a')).toBeUndefined()
    expect(await memory.claimUndelivered('GET http://thief/a')).toBeUndefined()
  })
})
