import { describe, expect, it } from 'vitest'
import { createClockWatch } from './clock-watch.js'

const t0 = 1_700_000_000
/** Looks as (our clock, head, the head's time), in seconds after a moment; what is said after the last. */
function skewAfter(...looks: (readonly [number, number, number])[]): number | undefined {
  const watch = createClockWatch()
  for (const [local, head, time] of looks) {
    watch.saw({ localMs: (t0 + local) * 1000, headNumber: BigInt(head), headTimestamp: t0 + time })
  }
  return watch.skewSeconds()
}

describe('the watch over the clock', () => {
  it.each([
    ['knows nothing before a look', [], undefined],
    ['finds nothing in an old block', [[3600, 1, 0]], 0],
    ['finds a clock that is behind in one look', [[0, 1, 600]], -600],
    [
      'finds nothing in a block that came in time',
      [
        [0, 1, -900],
        [60, 2, 40],
      ],
      0,
    ],
    [
      'finds a clock that is ahead by the next block',
      [
        [3600, 1, 0],
        [3605, 2, 4],
      ],
      3596,
    ],
    [
      'finds nothing any more once the clock was set back',
      [
        [3600, 1, 0],
        [3605, 2, 4],
        [10, 2, 4],
      ],
      0,
    ],
    [
      'keeps its finding while no block comes',
      [
        [3600, 1, 0],
        [3605, 2, 4],
        [3705, 2, 4],
      ],
      3596,
    ],
  ] as const)('%s', (_, looks, skew) => {
    expect(skewAfter(...looks)).toBe(skew)
  })
})
