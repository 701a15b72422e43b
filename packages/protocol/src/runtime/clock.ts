import type { UnixSeconds } from '../brand.js'

/** The clock, passed as an argument, so that tests control it. The real clock is in `system-clock.ts`. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after `ms`, or earlier when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The second that the clock is in. */
export const unixSeconds = (clock: Pick<Clock, 'now'>): UnixSeconds =>
  Math.floor(clock.now() / 1_000) as UnixSeconds

/** What work resolves with, or `late` if that takes longer. The work itself goes on. */
export async function inTime<T>(
  work: Promise<T>,
  ms: number,
  clock: Pick<Clock, 'sleep'>,
): Promise<T | 'late'> {
  const over = new AbortController()
  const late = clock.sleep(ms, over.signal).then(() => 'late' as const)
  // Any reason will do, because nobody reads it. Without one, Node makes an error with a stack.
  return Promise.race([work, late]).finally(() => over.abort('over'))
}
