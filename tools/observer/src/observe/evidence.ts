/** Times and roots, as classes: the observer learns for each class how often a mint and a burn in it belong together. */
import type { Mint, Root, Transfer } from '../chain-view.js'

const halfOctaves = 2

/** Seconds in steps that grow by about two fifths, so that seconds matter shortly after a burn and hours later on. */
export const ageClass = (seconds: number): number => Math.round(Math.log2(1 + seconds) * halfOctaves)

/**
 * The class of a pair: how long after the burn the mint came, and how many roots were proved after the first one that
 * covers the burn. A facilitator that mints at once uses that first root.
 */
export function createPairClass(roots: readonly Root[]): (mint: Mint, burn: Transfer) => string {
  const sizes = roots.map(({ size }) => size)
  /** Number of roots that cover at most this many leaves. */
  const rank = (leaves: number): number => {
    let [low, high] = [0, sizes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sizes[middle] ?? 0) <= leaves) low = middle + 1
      else high = middle
    }
    return low
  }
  return (mint, burn) => {
    const rootsLater = Math.max(0, rank(mint.rootSize) - 1 - rank(burn.leaf))
    return `${ageClass(rootsLater)}/${ageClass(mint.time - burn.time)}`
  }
}
