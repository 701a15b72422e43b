/** Clocks that a test holds. Each fits the clock of every package: milliseconds, and a sleep that a signal ends. */
import { setTimeout } from 'node:timers/promises'

export type TestClock = {
  now(): number
  /** Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Moves the reading; nothing that sleeps is woken. */
  advance(ms: number): void
}

const startMsUsual = 1_700_000_000_000

/** Real time that can be moved: sleeps are real, only the reading jumps. */
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

/** Time that stands still until told otherwise; sleeps end at once without moving it. */
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

/** Time that stands still until something sleeps; then it jumps to the end of the sleep. */
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

/** Time in which nothing passes until the test ends a sleep by hand; an aborted sleep rejects. */
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
