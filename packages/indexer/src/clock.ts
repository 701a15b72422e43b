/** Time as an argument, so that tests decide how it passes. */
export type Clock = {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Resolves after the time, or at once when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The machine's own time: the one place of this package that reads it. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal.addEventListener('abort', done)
    }),
}
