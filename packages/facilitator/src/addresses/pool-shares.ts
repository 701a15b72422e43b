/** Shares of callers in the pool: who may have an address when few are left. */

/** The pool tells the shares of every address that was taken, and of every new address that replaced a taken one. */
export type PoolShares = {
  /** A lower rank goes first. Undefined: this caller may have none while so many addresses are ready. */
  rank(key: string, ready: number): number | undefined
  /** How many of the ready addresses are reserved for no caller. */
  common(ready: number): number
  /** The same number in a full pool. */
  readonly commonMax: number
  take(key: string): void
  giveBack(key: string): void
}

/** Every caller may have every address, first come, first served. */
export const noShares = (targetSize: number): PoolShares => ({
  rank: (_key, ready) => (ready > 0 ? 0 : undefined),
  common: (ready) => ready,
  commonMax: targetSize,
  take: () => undefined,
  giveBack: () => undefined,
})

/** Callers that took addresses which no new address has replaced yet. */
export type Takers = {
  took(key: string): void
  /** A new address replaces the one that was taken first. */
  oldestReplaced(): void
  /** A caller gave an address back. */
  gaveBack(key: string): void
}

export function createTakers(shares: PoolShares, targetSize: number): Takers {
  /** Oldest first. */
  const keys: string[] = []

  function oldestReplaced(): void {
    const key = keys.shift()
    if (key !== undefined) shares.giveBack(key)
  }

  return {
    took(key) {
      shares.take(key)
      keys.push(key)
      // A store from a larger pool can hold more than the target: takers beyond one whole pool count no more.
      if (keys.length > targetSize) oldestReplaced()
    },
    oldestReplaced,
    gaveBack(key) {
      const place = keys.lastIndexOf(key)
      if (place < 0) return
      keys.splice(place, 1)
      shares.giveBack(key)
    },
  }
}
