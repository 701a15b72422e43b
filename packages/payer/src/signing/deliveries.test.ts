import type { ChallengeNonce, Offer } from '@svc-zerc20/protocol'
import { expect, it } from 'vitest'
import { jumpingClock } from '../../../../test/support/clocks.js'
import { bytes32, offerAt } from '../../test/offers.js'
import { defaultLimits } from '../limits.js'
import { createPaymentMemory, type PaymentRecord, wholeMax } from '../state/payments.js'
import { createDeliveries } from './deliveries.js'

it('a body that breaks off takes its delivery back, however many payments were delivered since', async () => {
  const clock = jumpingClock()
  const memory = createPaymentMemory({ clock, limits: defaultLimits })
  const deliveries = createDeliveries({
    memory,
    nonces: { release: async () => undefined },
    guard: { ended: async () => undefined },
    verdictOf: async () => ({ state: 'unknown' }),
    limits: defaultLimits,
  })
  const record = (n: number): PaymentRecord => ({
    challengeNonce: bytes32(n) as ChallengeNonce,
    accepted: offerAt(Math.floor(clock.now() / 1_000)) as Offer.PaymentRequirements,
    delivery: 'open',
    resends: 0,
    request: 'GET https://shop.example/thing',
    header: `payment ${n}`,
  })
  for (let n = 1; n <= wholeMax + 2; n += 1) {
    await memory.update(record(n).challengeNonce, () => record(n))
    await deliveries.ended(record(n).challengeNonce, 'accepted')
  }
  expect(await memory.get(record(1).challengeNonce)).toBeUndefined()
  await deliveries.ended(record(1).challengeNonce, 'half')
  expect(await deliveries.claim('GET https://shop.example/thing')).toMatchObject({ header: 'payment 1' })
})
