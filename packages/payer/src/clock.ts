/** Time as a dependency. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after `ms`, or at once when `signal` aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done)
    }),
}

export const unixSeconds = (clock: Clock): number => Math.floor(clock.now() / 1_000)
