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
  it('wait twice as long each time, up to the bound, and nobody else does', async () => {
    const { clock, waits } = setup()
    expect(await waits.waitMs(payer)).toBe(0)
    for (const waitMs of [100, 200, 350, 350]) {
      await waits.failed(payer)
      expect(await waits.waitMs(payer)).toBe(waitMs)
      clock.advance(waitMs - 1)
      expect(await waits.waitMs(payer)).toBe(1)
      clock.advance(1)
      expect(await waits.waitMs(payer)).toBe(0)
    }
    expect(await waits.waitMs(addressOf(2))).toBe(0)
  })

  it('begin anew when they did not fail for long enough', async () => {
    const { clock, waits } = setup()
    await waits.failed(payer)
    clock.advance(100 + 999)
    await waits.failed(payer)
    expect(await waits.waitMs(payer)).toBe(200)
    clock.advance(200 + 1_000)
    await waits.failed(payer)
    expect(await waits.waitMs(payer)).toBe(100)
  })

  it('are remembered up to a number, the last ones to fail', async () => {
    const { waits } = setup(2)
    await waits.failed(payer)
    await waits.failed(addressOf(2))
    await waits.failed(payer)
    await waits.failed(addressOf(3))
    expect(await Promise.all([payer, addressOf(2), addressOf(3)].map(waits.waitMs))).toEqual([200, 0, 100])
  })
})
