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

export function createShares(deps: {
  readonly capacity: number
  /** Parts of the capacity by key, in percent. */
  readonly reservedPercent: ReadonlyMap<string, number>
  /** The number promised to a caller. The caller may always have this many while there are any. */
  readonly promisedTo: (key: string) => number
}): Shares {
  const { capacity, reservedPercent, promisedTo } = deps
  const held = new Map<string, number>()
  let heldByAll = 0
  const heldBy = (key: string) => held.get(key) ?? 0
  const partOf = (key: string, whole: number) => Math.floor((whole * (reservedPercent.get(key) ?? 0)) / 100)
  /**
   * While the stock is still being made, parts are shares of its present size: nobody waits for what others
   * may want later.
   */
  const wholeWith = (free: number) => Math.min(capacity, free + heldByAll)

  /** Free ones that are reserved for callers other than this one. */
  function keptFrom(key: string | undefined, free: number): number {
    let kept = 0
    for (const owner of reservedPercent.keys()) {
      if (owner !== key) kept += Math.max(0, partOf(owner, wholeWith(free)) - heldBy(owner))
    }
    return kept
  }

  return {
    rank(key, free) {
      const beyond = heldBy(key) - partOf(key, wholeWith(free))
      if (beyond < 0) return free > 0 ? beyond : undefined
      const left = free - keptFrom(key, free)
      const isFair = beyond < timesWhatIsLeft * left || beyond < promisedTo(key)
      return left > 0 && isFair ? beyond : undefined
    },
    common: (free) => Math.max(0, free - keptFrom(undefined, free)),
    commonMax: capacity - [...reservedPercent.keys()].reduce((sum, key) => sum + partOf(key, capacity), 0),
    take(key) {
      held.set(key, heldBy(key) + 1)
      heldByAll += 1
    },
    giveBack(key) {
      const left = heldBy(key) - 1
      if (left < 0) return
      heldByAll -= 1
      if (left > 0) held.set(key, left)
      else held.delete(key)
    },
  }
}

/** Shares without reservations: first come, first served. */
export const unshared = (capacity: number): Shares =>
  createShares({ capacity, reservedPercent: new Map(), promisedTo: () => Number.POSITIVE_INFINITY })
