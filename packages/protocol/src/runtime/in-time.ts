import type { Clock } from './clock.js'

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
