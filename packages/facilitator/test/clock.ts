import type { Clock } from '../src/payment/ports.js'
import { systemClock } from '../src/system.js'

/** Real time that can be moved forward: sleeps are real, only the reading jumps. */
export function movableClock(): Clock & { advance(ms: number): void } {
  let offsetMs = 0
  return {
    now: () => Date.now() + offsetMs,
    sleep: systemClock.sleep,
    advance: (ms) => {
      offsetMs += ms
    },
  }
}

/** A clock that stands still until told otherwise; sleeps end at once without moving it. */
export function stoppedClock(startMs = 1_700_000_000_000): Clock & { advance(ms: number): void } {
  let now = startMs
  return {
    now: () => now,
    sleep: async () => undefined,
    advance: (ms) => {
      now += ms
    },
  }
}
