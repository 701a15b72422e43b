import { describe, expect, it } from 'vitest'
import { limits } from '../../config/limits.js'
import { gatherMs } from './burner.js'

/** When transactions are sent between two blocks, while burns arrive all the time. */
function sendsUntil(blockMs: number, untilBlockMs: (nowMs: number) => number): readonly number[] {
  const sentMs = [0]
  for (let now = 0; sentMs.length < limits.batchesInFlightMax; ) {
    now += gatherMs(sentMs.length, untilBlockMs(now))
    if (now >= blockMs) break
    sentMs.push(now)
  }
  return sentMs
}

describe('how long burns gather for a transaction beside others', () => {
  const known = (blockMs: number) => (nowMs: number) => Math.max(0, blockMs - nowMs)

  it.each([250, 1_000, 2_000, 12_000])(
    'the last one is sent shortly before a block that is due after %i ms',
    (blockMs) => {
      const sentMs = sendsUntil(blockMs, known(blockMs))
      expect(blockMs - (sentMs.at(-1) ?? 0)).toBeLessThan(
        Math.max(2 * limits.batchGatherMsMin, 0.02 * blockMs),
      )
    },
  )

  it('few are sent for a block of a second', () => {
    expect(sendsUntil(1_000, known(1_000)).length).toBeLessThanOrEqual(5)
  })

  it('not all are out at once where nobody knows when the block comes', () => {
    const sentMs = sendsUntil(60_000, () => 0)
    expect(sentMs.length).toBe(limits.batchesInFlightMax)
    expect(sentMs.at(-1)).toBeGreaterThan(1_500)
    expect(sendsUntil(1_000, () => 0).at(-1)).toBeGreaterThan(900)
  })
})
