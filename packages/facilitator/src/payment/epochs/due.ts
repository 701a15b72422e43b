/** Decides when the payments of an epoch are minted together. Pure. */
import type { BatchPace } from './ports.js'

/**
 * The moment from which on a batch is due. Enough payments are due a random while after the one that completed them, so
 * that the time of the mint does not name that one. The longest wait of the first payment ends a random while early, for
 * the same reason.
 */
export function dueAtMs(given: {
  /** Since when each payment waits. */
  readonly sinceMs: readonly number[]
  /** When so many payments waited for the first time. */
  readonly completeAtMs: number | undefined
  /** In [0, 1), drawn once for each mint. */
  readonly chance: number
  readonly pace: Pick<BatchPace, 'least' | 'waitMaxMs' | 'jitterMs'>
}): number {
  const { sinceMs, completeAtMs, chance, pace } = given
  const first = sinceMs.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY)
  // Half of the wait at most, or a long jitter would mint a lone payment at once.
  const early = chance * Math.min(pace.jitterMs, pace.waitMaxMs / 2)
  const complete =
    completeAtMs === undefined ? Number.POSITIVE_INFINITY : completeAtMs + chance * pace.jitterMs
  return Math.min(first + pace.waitMaxMs - early, complete)
}
