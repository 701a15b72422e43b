/** The observer's opinion about one mint: which burns it pays, and how sure the observer is of each. */
import type { Mint, Transfer } from '../chain-view.js'

export type Guess = {
  readonly mint: Mint
  /** Burn → probability that this mint pays it, as the observer sees it. Burns without an entry are ruled out. */
  readonly paid: ReadonlyMap<Transfer, number>
}

/** Probabilities this close are a tie. */
const tie = 0.99
/** A burn is company when it is at least this likely, compared with the likeliest. */
const plausible = 0.1

/** The burns that the observer would name first. Several burns mean that it cannot tell them apart. */
export function namesOf({ paid }: Guess): readonly Transfer[] {
  const best = Math.max(0, ...paid.values())
  return best === 0 ? [] : [...paid].filter(([, p]) => p >= best * tie).map(([burn]) => burn)
}

/** The number of burns between which the mint hides, those it pays included. */
export function companyOf({ paid }: Guess): number {
  const best = Math.max(0, ...paid.values())
  return best === 0 ? 0 : [...paid.values()].filter((p) => p >= best * plausible).length
}
