/**
 * The observer that also pays: it surrounds a burn with burns of its own to one provider. It knows what it paid itself, so what is
 * left of a sum can only be of the others that its proof counted.
 */
import type { ChainView } from '../chain-view.js'
import { explainSum } from './subset-sum.js'

/** So sure has the observer to be. */
const sure = 0.99

/** The seconds from the burn to the mint that names its recipient. Undefined when no mint does. */
export function nameSurrounded(
  view: ChainView,
  leaf: number,
  isOwn: (from: string) => boolean,
): number | undefined {
  const minted = new Set(view.mints.map((mint) => mint.leaf))
  const burn = view.transfers[leaf]
  for (const { range, value, time } of view.mints) {
    if (burn === undefined || range === undefined || leaf < range.start || leaf >= range.end) continue
    const inside = view.transfers.slice(range.start, range.end).filter((one) => !minted.has(one.leaf))
    const own = inside.filter(({ from }) => isOwn(from)).reduce((sum, one) => sum + one.value, 0n)
    const others = inside.filter(({ from }) => !isOwn(from))
    const found = explainSum(
      others.map((one) => ({ value: one.value, chance: 0.5 })),
      value - own,
    )
    if ((found?.[others.indexOf(burn)] ?? 0) >= sure) return time - burn.time
  }
  return undefined
}
