/** Clocks for tests. Each fits the clock type of every package: milliseconds, and a sleep that a signal ends. */

export type TestClock = {
  now(): number
  /** Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Moves the time. Wakes no sleeper. */
  advance(ms: number): void
}

const startMsUsual = 1_700_000_000_000

export type MovableClock = TestClock & {
  /** Moves the time, and ends every sleep whose time has come. */
  pass(ms: number): void
  /** From now on the time moves only by `pass` and `advance`, until `release`. */
  stand(): void
  /** From now on the time stands, and sleeps end only by `pass`, until `release`. */
  hold(): void
  release(): void
  asleep(): number
}

/** A real clock whose time can be moved. Sleeps take real time, unless the time is moved past their end. */
export function movableClock(): MovableClock {
  let movedMs = 0
  let stoodMs: number | undefined
  let isHeld = false
  const sleepers = new Set<{ isDue(): boolean; wake(): void }>()
  const now = () => (stoodMs ?? Date.now()) + movedMs
  const stand = () => {
    stoodMs ??= Date.now()
  }

  function wakeDue(): void {
    for (const { isDue, wake } of sleepers) if (isDue()) wake()
  }

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const dueMs = now() + ms
      let isTimeUp = false
      const timer = setTimeout(() => {
        isTimeUp = true
        if (!isHeld) wake()
      }, ms)
      const sleeper = { isDue: () => isTimeUp || dueMs <= now(), wake }
      function wake(): void {
        clearTimeout(timer)
        signal?.removeEventListener('abort', wake)
        sleepers.delete(sleeper)
        resolve()
      }
      signal?.addEventListener('abort', wake)
      sleepers.add(sleeper)
    })
  }

  return {
    now,
    sleep,
    advance(ms) {
      movedMs += ms
    },
    pass(ms) {
      movedMs += ms
      wakeDue()
    },
    stand,
    hold() {
      stand()
      isHeld = true
    },
    release() {
      if (stoodMs !== undefined) movedMs -= Date.now() - stoodMs
      stoodMs = undefined
      isHeld = false
      wakeDue()
    },
    asleep: () => sleepers.size,
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
