/**
 * How a stock that can run out is shared. Sellers have reserved parts that nobody else takes. Of the rest a
 * caller gets less the less there is, so that something is left for the next caller.
 */

/** A caller may have at most this many times as much of the rest as it leaves to all others. */
const timesLeftMax = 3

/** Promises of a stock. */
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

/**
 * The caller's rank among those who want one while `free` are left: lower goes first. Undefined: the caller may have none
 * now.
 */
export function rankOf(terms: ShareTerms, held: Holdings, key: string, free: number): number | undefined {
  const beyond = held.of(key) - partOf(terms, key, wholeWith(terms, held, free))
  if (beyond < 0) return free > 0 ? beyond : undefined
  const left = free - keptFrom(terms, held, key, free)
  const isFair = beyond < timesLeftMax * left || beyond < terms.promisedTo(key)
  return left > 0 && isFair ? beyond : undefined
}

/** How many of the free ones are unreserved. */
export const commonOf = (terms: ShareTerms, held: Holdings, free: number): number =>
  Math.max(0, free - keptFrom(terms, held, undefined, free))

/** How many are unreserved while all are free. */
export const commonMaxOf = (terms: ShareTerms): number =>
  commonOf(terms, { of: () => 0, all: 0 }, terms.capacity)

/** Nothing is reserved: first come, first served. */
export const unshared = (capacity: number): ShareTerms => ({
  capacity,
  reservedPercent: new Map(),
  promisedTo: () => Number.POSITIVE_INFINITY,
})
