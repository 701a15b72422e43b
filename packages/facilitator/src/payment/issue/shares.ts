/**
 * How a stock that can run out is shared. Sellers have reserved parts that nobody else takes. Of the rest a
 * caller gets less the less there is, so that something is left for the next caller.
 */

/** A caller may have this many times as much of the rest as it leaves to all others. */
const timesWhatIsLeft = 3

export type Shares = {
  /**
   * The caller's rank among those who want one while `free` are left: lower goes first. Undefined: the caller
   * may have none now.
   */
  rank(key: string, free: number): number | undefined
  /** How many of the free ones are unreserved, and how many there would be if all were free. */
  common(free: number): number
  readonly commonMax: number
  take(key: string): void
  giveBack(key: string): void
}

/** What a stock promises to whom. */
export type ShareTerms = {
  readonly capacity: number
  /** Parts of the capacity by key, in percent. */
  readonly reservedPercent: ReadonlyMap<string, number>
  /** The number promised to a caller. The caller may always have this many while there are any. */
  readonly promisedTo: (key: string) => number
}

/** Who holds how much of a stock. */
export type Holdings = { readonly of: (key: string) => number; readonly all: number }

const partOf = ({ reservedPercent }: ShareTerms, key: string, whole: number) =>
  Math.floor((whole * (reservedPercent.get(key) ?? 0)) / 100)

/** While the stock is still being made, parts are shares of its present size: nobody waits for what others may want later. */
const wholeWith = ({ capacity }: ShareTerms, held: Holdings, free: number) =>
  Math.min(capacity, free + held.all)

/** Free ones that are reserved for callers other than this one. */
function keptFrom(terms: ShareTerms, held: Holdings, key: string | undefined, free: number): number {
  let kept = 0
  for (const owner of terms.reservedPercent.keys()) {
    if (owner !== key)
      kept += Math.max(0, partOf(terms, owner, wholeWith(terms, held, free)) - held.of(owner))
  }
  return kept
}

/** The caller's rank, as in `Shares`. */
export function rankOf(terms: ShareTerms, held: Holdings, key: string, free: number): number | undefined {
  const beyond = held.of(key) - partOf(terms, key, wholeWith(terms, held, free))
  if (beyond < 0) return free > 0 ? beyond : undefined
  const left = free - keptFrom(terms, held, key, free)
  const isFair = beyond < timesWhatIsLeft * left || beyond < terms.promisedTo(key)
  return left > 0 && isFair ? beyond : undefined
}

export function createShares(terms: ShareTerms): Shares {
  const { capacity, reservedPercent } = terms
  const heldBy = new Map<string, number>()
  let all = 0
  const held: Holdings = {
    of: (key) => heldBy.get(key) ?? 0,
    get all() {
      return all
    },
  }
  return {
    rank: (key, free) => rankOf(terms, held, key, free),
    common: (free) => Math.max(0, free - keptFrom(terms, held, undefined, free)),
    commonMax:
      capacity - [...reservedPercent.keys()].reduce((sum, key) => sum + partOf(terms, key, capacity), 0),
    take(key) {
      heldBy.set(key, held.of(key) + 1)
      all += 1
    },
    giveBack(key) {
      const left = held.of(key) - 1
      if (left < 0) return
      all -= 1
      if (left > 0) heldBy.set(key, left)
      else heldBy.delete(key)
    },
  }
}

/** Shares without reservations: first come, first served. */
export const unshared = (capacity: number): Shares =>
  createShares({ capacity, reservedPercent: new Map(), promisedTo: () => Number.POSITIVE_INFINITY })
