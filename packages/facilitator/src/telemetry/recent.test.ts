import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { createRecentEvents } from './recent.js'

const setup = () => {
  const clock = stoppedClock(1_000_000)
  return {
    clock,
    recent: createRecentEvents({ clock, paymentsMax: 2, eventsPerPaymentMax: 3 }),
  }
}

describe('the recent events', () => {
  it('keep the turns of a payment with their times, without what an operator cannot use', () => {
    const { clock, recent } = setup()
    recent.hear({ event: 'challenge.issued', challengeNonce: '0xa', amount: 5n })
    clock.advance(2_000)
    recent.hear({ event: 'burn.failed', challengeNonce: '0xa', reason: 'burn_failed' })
    expect(recent.of('0xa')).toEqual([
      { at: 1000, event: 'challenge.issued' },
      { at: 1002, event: 'burn.failed', reason: 'burn_failed' },
    ])
    expect(recent.of('0xb')).toEqual([])
  })

  it('forget the oldest payments and stop growing within one', () => {
    const { recent } = setup()
    for (const challengeNonce of ['0xa', '0xb', '0xc']) {
      for (let i = 0; i < 5; i++) recent.hear({ event: 'burn.resumed', challengeNonce })
    }
    expect(recent.of('0xa')).toEqual([])
    expect(recent.of('0xc')).toHaveLength(3)
  })
})
