/** Memory of an epoch while it has payments to mint. A restart forgets it, which costs time and no money. */
import { backOffMs, type Clock } from '@svc-zerc20/protocol'
import type { AwaitingMint } from '../records.js'
import { companyAfter } from './company.js'
import { byLeaf } from './plan.js'
import type { BatchCount, BatchPace, BatchPorts } from './ports.js'

export type EpochMemory = ReturnType<typeof createEpochMemory>

/** Why payments are minted now: the payers of the next proof are a company, or one payment waited as long as it may. */
export type Due = 'company' | 'waited'

export function createEpochMemory({
  clock,
  pace,
  chance,
  fits,
}: Pick<BatchPorts, 'pace' | 'chance' | 'fits'> & { readonly clock: Pick<Clock, 'now'> }) {
  /** Draws of their own for time and place: the place is published, and must not tell the time at which a batch was complete. */
  const draw = () => ({ time: chance(), place: chance() })
  let drawn = draw()
  let completeAtMs: number | undefined
  let tallyBelow = 0n
  let failures = 0
  let restUntilMs = 0

  /** Whether the payers of the next proof are a company. Those that have no place in it are none. */
  function isCompany(payments: readonly AwaitingMint[]): boolean {
    const rising = payments.toSorted(byLeaf)
    const after = companyAfter(rising, pace)
    return after !== undefined && after <= fits(rising.map(({ burn }) => burn.leafIndex))
  }

  return {
    /** The first count at which records were lost; leaves above its checkpoint are compared with counts since. */
    base: undefined as BatchCount | undefined,
    /** The operator was told that somebody else counts this epoch. */
    isForeignTold: false,
    /** Counts by other accounts were looked for. */
    isSearched: false,
    /** Draws the end of the next proof. It stays until that proof is mined: two ends would show what lies between them. */
    endChance: () => drawn.place,
    /** Whether these payments are minted now, and why. Notes since when they are a company. */
    dueFor(payments: readonly AwaitingMint[]): Due | undefined {
      const now = clock.now()
      if (now < restUntilMs) return undefined
      const { time } = drawn
      // First: what others send to our addresses may leave no room for the company, and holds up nobody for longer.
      if (now >= waitsUntilMs(payments.map(waitsSinceMs), time, pace)) return 'waited'
      if (isCompany(payments.filter(({ burn }) => burn.leafIndex < tallyBelow))) return 'company'
      if (isCompany(payments)) completeAtMs ??= now
      else completeAtMs = undefined
      const isComplete = completeAtMs !== undefined && now >= completeAtMs + time * pace.jitterMs
      return isComplete ? 'company' : undefined
    },
    /**
     * A tally reads up to this leaf: its payments are minted without further waits, proof after proof, as long as they are
     * company for each other. Fewer than that wait again.
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
      drawn = draw()
      completeAtMs = undefined
    },
  }
}

/** A burn that came late waits since its challenge expired. */
const waitsSinceMs = ({ acceptedAt, challenge }: AwaitingMint): number =>
  (acceptedAt ?? challenge.expiresAt) * 1000

/**
 * The moment at which the first payment has waited as long as it may, and a random while earlier, so that the time of the mint
 * does not name it. `chance`: in [0, 1), drawn once for each mint.
 */
function waitsUntilMs(
  sinceMs: readonly number[],
  chance: number,
  { waitMaxMs, jitterMs }: Pick<BatchPace, 'waitMaxMs' | 'jitterMs'>,
): number {
  const first = sinceMs.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY)
  // Half of the wait at most, or a long jitter would mint a lone payment at once.
  return first + waitMaxMs - chance * Math.min(jitterMs, waitMaxMs / 2)
}
