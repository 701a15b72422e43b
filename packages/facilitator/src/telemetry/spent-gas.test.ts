import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { createSpentGas } from './spent-gas.js'

it('tells what gas cost since the start and in the last 24 hours, by purpose', () => {
  const clock = stoppedClock(0)
  const spent = createSpentGas({ count: () => undefined }, clock)
  const mined = (purpose: 'burn' | 'mint', wei: bigint) =>
    spent.hear({ event: 'relayer.mined', txNonce: 1, purpose, gas: 1n, wei })
  mined('burn', 5n)
  clock.advance(20 * 3_600_000)
  mined('burn', 7n)
  mined('mint', 100n)
  mined('burn', 1n)
  expect([spent.lastDay('burn'), spent.lastDay('mint')]).toEqual([13n, 100n])
  clock.advance(5 * 3_600_000)
  expect([spent.lastDay('burn'), spent.lastDay('mint')]).toEqual([8n, 100n])
  clock.advance(48 * 3_600_000)
  expect(spent.lastDay('mint')).toBe(0n)
  expect(spent.of('burn')).toEqual({ transactions: 3, gas: 3n, wei: 13n })
})
