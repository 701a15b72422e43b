/** Memory of an epoch while it has payments to mint. A restart forgets it, which costs time and no money. */
import { backOffMs, type Clock } from '@svc-zerc20/protocol'
import type { AwaitingMint } from '../records.js'
import type { BatchCount, BatchPace, BatchPorts } from './ports.js'

export type EpochMemory = ReturnType<typeof createEpochMemory>

export function createEpochMemory({
  clock,
  pace,
  chance,
}: Pick<BatchPorts, 'pace' | 'chance'> & { readonly clock: Pick<Clock, 'now'> }) {
  let drawn = chance()
  let completeAtMs: number | undefined
  let tallyBelow = 0n
  let failures = 0
  let restUntilMs = 0
  return {
    /** The first count at which records were lost; leaves above its checkpoint are compared with counts since. */
    base: undefined as BatchCount | undefined,
    /** The operator was told that somebody else counts this epoch. */
    isForeignTold: false,
    /** Counts by other accounts were looked for. */
    isSearched: false,
    /** Whether these payments are minted now. Notes since when they are enough. */
    isDue(payments: readonly AwaitingMint[]): boolean {
      const now = clock.now()
      if (now < restUntilMs) return false
      if (countBelow(payments, tallyBelow) >= pace.least) return true
      if (payments.length >= pace.least) completeAtMs ??= now
      else completeAtMs = undefined
      return now >= dueAtMs({ sinceMs: payments.map(waitsSinceMs), completeAtMs, chance: drawn, pace })
    },
    /**
     * A tally reads up to this leaf: its payments are minted without further waits, proof after proof, as long as enough
     * of them are left. Fewer than that wait for company again.
     */
    begin(limit: bigint): void {
      tallyBelow = limit
    },
    /** A proof of the tally ended. After a failure the epoch rests, longer each time. */
    ended(how: 'well' | 'failed'): void {
      failures = how === 'failed' ? failures + 1 : 0
      restUntilMs =
        failures === 0 ? 0 : clock.now() + backOffMs(failures, pace.retryMs.first, pace.retryMs.max)
      if (how === 'failed') return
      drawn = chance()
      completeAtMs = undefined
    },
  }
}

const countBelow = (payments: readonly AwaitingMint[], leaf: bigint): number =>
  payments.filter(({ burn }) => burn.leafIndex < leaf).length

/** A burn that came late waits since its challenge expired. */
const waitsSinceMs = ({ acceptedAt, challenge }: AwaitingMint): number =>
  (acceptedAt ?? challenge.expiresAt) * 1000

/**
 * The moment from which on a batch is due. Enough payments are due a random while after the one that completed them, so
 * that the time of the mint does not name that one. The longest wait of the first payment ends a random while early, for
 * the same reason.
 */
function dueAtMs(given: {
  /** The start of the wait of each payment. */
  readonly sinceMs: readonly number[]
  /** The first time at which enough payments waited. */
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
