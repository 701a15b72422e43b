/** Chance that comes out the same for the same seed. SHA-256 in counter mode: speed does not matter here. */
import { createHash } from 'node:crypto'

export type Random = {
  /** In [0, 1). */
  fraction(): number
  /** One of the items. */
  pick<T>(items: readonly [T, ...T[]]): T
  /** Seconds until the next of events that come so often on average. */
  wait(perSecond: number): number
}

export function seededRandom(seed: string): Random {
  let draws = 0
  const fraction = () => {
    draws += 1
    return createHash('sha256').update(`${seed}/${draws}`).digest().readUIntBE(0, 6) / 2 ** 48
  }
  return {
    fraction,
    pick: (items) => items[Math.floor(fraction() * items.length)] ?? items[0],
    wait: (perSecond) => -Math.log(1 - fraction()) / perSecond,
  }
}
