import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { addressOf } from '../../../test/challenges.js'
import { createPayerWaits } from './payer-waits.js'

const payer = addressOf(1)

function setup(payersMax = 9) {
  const clock = stoppedClock()
  return { clock, waits: createPayerWaits({ clock, firstMs: 100, maxMs: 350, forgetMs: 1_000, payersMax }) }
}

describe('payers whose relayed burns failed', () => {
  it('wait twice as long each time, up to the bound, and nobody else does', () => {
    const { clock, waits } = setup()
    expect(waits.waitMs(payer)).toBe(0)
    for (const waitMs of [100, 200, 350, 350]) {
      waits.failed(payer)
      expect(waits.waitMs(payer)).toBe(waitMs)
      clock.advance(waitMs - 1)
      expect(waits.waitMs(payer)).toBe(1)
      clock.advance(1)
      expect(waits.waitMs(payer)).toBe(0)
    }
    expect(waits.waitMs(addressOf(2))).toBe(0)
  })

  it('begin anew when they did not fail for long enough', () => {
    const { clock, waits } = setup()
    waits.failed(payer)
    clock.advance(100 + 999)
    waits.failed(payer)
    expect(waits.waitMs(payer)).toBe(200)
    clock.advance(200 + 1_000)
    waits.failed(payer)
    expect(waits.waitMs(payer)).toBe(100)
  })

  it('are remembered up to a number, the last ones to fail', () => {
    const { waits } = setup(2)
    waits.failed(payer)
    waits.failed(addressOf(2))
    waits.failed(payer)
    waits.failed(addressOf(3))
    expect([payer, addressOf(2), addressOf(3)].map((each) => waits.waitMs(each))).toEqual([200, 0, 100])
  })
})
