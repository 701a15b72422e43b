/** Clocks for tests. Each fits the clock type of every package: milliseconds, and a sleep that a signal ends. */
import { setTimeout } from 'node:timers/promises'

export type TestClock = {
  now(): number
  /** Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Moves the time. Wakes no sleeper. */
  advance(ms: number): void
}

const startMsUsual = 1_700_000_000_000

/** A real clock whose time can be moved. Sleeps take real time. */
export function movableClock(): TestClock {
  let movedMs = 0
  return {
    now: () => Date.now() + movedMs,
    sleep: (ms, signal) => setTimeout(ms, undefined, signal && { signal }).catch(() => undefined),
    advance(ms) {
      movedMs += ms
    },
  }
}

/** A clock that moves only by `advance`. Sleeps end at once and do not move it. */
export function stoppedClock(startMs = startMsUsual): TestClock {
  let now = startMs
  return {
    now: () => now,
    sleep: async () => undefined,
    advance(ms) {
      now += ms
    },
  }
}

/** A clock that moves only by sleeps: each sleep jumps to its end. */
export function jumpingClock(startMs = startMsUsual): TestClock {
  const clock = stoppedClock(startMs)
  return {
    ...clock,
    async sleep(ms, signal) {
      await new Promise((resolve) => setImmediate(resolve))
      if (!signal?.aborted) clock.advance(ms)
    },
  }
}

type Sleep = { readonly ms: number; readonly signal: AbortSignal; readonly end: () => void }

/** A clock that moves only when the test ends a sleep. An aborted sleep rejects. */
export function handClock() {
  const sleeps: Sleep[] = []
  return {
    sleeps,
    now: () => 0,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        sleeps.push({ ms, signal, end: resolve })
      }),
  }
}
