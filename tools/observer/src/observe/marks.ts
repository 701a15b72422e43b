/**
 * The observer that also acts: it sends 2^i base units to the i-th burn address that it sees. Prices are multiples of some
 * step, so what a sum has beyond a multiple of that step is a bitmask of the marked addresses in it.
 */
import type { ChainView } from '../chain-view.js'

/** Burn address → the recipient that the sums name for it. `step` is larger than all marks together. */
export function readMarks(view: ChainView, attacker: string, step: bigint): ReadonlyMap<string, string> {
  const marks = view.transfers.filter(({ from }) => from === attacker)
  const named = new Map<string, string>()
  for (const { value, to, range } of view.mints) {
    for (const mark of marks) {
      const isInRange = range === undefined || (mark.leaf >= range.start && mark.leaf < range.end)
      if (isInRange && ((value % step) & mark.value) !== 0n) named.set(mark.to, to)
    }
  }
  return named
}
