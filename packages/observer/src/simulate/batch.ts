/**
 * `finalize.mode = "batch"`: offers of one epoch share a recipient hash, and their burns are minted together when nobody
 * can pay an offer of that epoch any more.
 */
import type { AcceptedBurn, Facilitator, SimulatedMint } from './facilitator.js'
import type { Random } from './random.js'

export type Epochs = {
  readonly seconds: number
  /** An epoch with fewer burns stays open, but no longer than `longestSeconds`. */
  readonly leastBurns: number
  readonly longestSeconds: number
  /** A batch is held back for a random time up to this. */
  readonly jitterSeconds: number
}

/** Places in one proof. */
const leavesMax = 30
/** How long an offer can be paid: `settlement.challenge_ttl_seconds`. */
const offerSeconds = 300

type Epoch = { readonly beganAt: number; endedAt?: number; dueAt: number; readonly burns: AcceptedBurn[] }

export function createBatch(epochs: Epochs): (random: Random) => Facilitator {
  return (random) => {
    const all: Epoch[] = [{ beganAt: 0, dueAt: 0, burns: [] }]
    /** The epoch in which an offer was made. */
    const epochOf = (offeredAt: number) => all.findLast(({ beganAt }) => beganAt <= offeredAt) ?? all[0]
    function turn(now: number): void {
      const current = all.at(-1) as Epoch
      const age = now - current.beganAt
      const isFull = age >= epochs.seconds && current.burns.length >= epochs.leastBurns
      if (!isFull && age < epochs.longestSeconds) return
      current.endedAt = now
      current.dueAt = now + offerSeconds + random.fraction() * epochs.jitterSeconds
      all.push({ beganAt: now, dueAt: 0, burns: [] })
    }
    return {
      accept(burn) {
        epochOf(burn.offeredAt)?.burns.push(burn)
      },
      mint(now, rootSize) {
        turn(now)
        const due = all.filter(({ endedAt, dueAt }) => endedAt !== undefined && dueAt <= now)
        return due.flatMap((epoch) => {
          if (epoch.burns.some(({ leaf }) => leaf >= rootSize)) return []
          return proofsOf(epoch.burns.splice(0), rootSize)
        })
      },
    }
  }
}

/** Proofs follow each other: each counts from the checkpoint of the one before. */
function proofsOf(burns: readonly AcceptedBurn[], rootSize: number): SimulatedMint[] {
  const mints: SimulatedMint[] = []
  let start = 0
  for (let first = 0; first < burns.length; first += leavesMax) {
    const counted = burns.slice(first, first + leavesMax)
    const end = burns.length > first + leavesMax ? (counted.at(-1)?.leaf ?? 0) + 1 : rootSize
    mints.push({
      value: counted.reduce((sum, { value }) => sum + value, 0n),
      rootSize,
      range: { start, end },
      burns: counted.map(({ leaf }) => leaf),
    })
    start = end
  }
  return mints
}
