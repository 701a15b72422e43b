import type { Clock } from '../src/clock.js'

/** A clock that stands still until something sleeps; then it jumps to the end of the sleep. */
export function fakeClock(startMs = 1_700_000_000_000): Clock & { advance(ms: number): void } {
  let now = startMs
  return {
    now: () => now,
    advance: (ms) => {
      now += ms
    },
    async sleep(ms, signal) {
      await new Promise((resolve) => setImmediate(resolve))
      if (!signal?.aborted) now += ms
    },
  }
}
