type Sleep = { readonly ms: number; readonly signal: AbortSignal; readonly end: () => void }

/** A clock in which nothing passes until the test ends a sleep by hand. */
export function createHandClock() {
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
