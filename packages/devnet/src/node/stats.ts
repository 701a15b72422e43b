/** Counts of HTTP requests and their calls. `request` and the `dev_` methods are not counted. */
export type ChainStats = { httpRequests: number; calls: Record<string, number> }

export type Stats = {
  countHttpRequest(): void
  countCall(method: string): void
  read(): ChainStats
}

/** Creates counters at zero. */
export function createStats(): Stats {
  let httpRequests = 0
  const calls = new Map<string, number>()
  return {
    countHttpRequest() {
      httpRequests += 1
    },
    countCall(method) {
      calls.set(method, (calls.get(method) ?? 0) + 1)
    },
    read: () => ({ httpRequests, calls: Object.fromEntries(calls) }),
  }
}
