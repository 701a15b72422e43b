/** Decides which burns the next proof of an epoch counts. Pure. */

import type { Burn } from '../records.js'
import { type Company, companyAfter } from './company.js'
import type { EpochLeaf } from './epoch.js'
import type { BatchCount, BatchPorts } from './ports.js'

/**
 * How a count compares with our records: the leaf from which on every leaf that we know below the checkpoint is surely
 * counted. `missed`: one of them was not counted. `lost`: burns were counted that no record here explains, so that the sum
 * tells nothing.
 */
export type Comparison = bigint | 'missed' | 'lost'

/**
 * `base` is a count of an earlier look at which records were lost. The leaves above its checkpoint can still be compared
 * with what was counted since.
 */
export function compareCount(leaves: readonly EpochLeaf[], count: BatchCount, base?: BatchCount): Comparison {
  const known = sumBelow(leaves, count.checkpoint)
  if (known === count.counted) return 0n
  if (known > count.counted) return 'missed'
  if (!base || base.checkpoint > count.checkpoint) return 'lost'
  const above = known - sumBelow(leaves, base.checkpoint)
  if (above === count.counted - base.counted) return base.checkpoint
  return above > count.counted - base.counted ? 'missed' : 'lost'
}

/**
 * The owner of the minted sum. `ours`: our count, or that of an earlier account of ours, which went further.
 * `open`: more than this count has yet, so it has to go on. `foreign`: more than all burns that we know, so that somebody
 * else counts burns of this recipient hash. The larger count is minted and the smaller one is not, whichever is ours.
 */
export function explainMinted(leaves: readonly EpochLeaf[], count: BatchCount): 'ours' | 'open' | 'foreign' {
  const beyond = count.minted - count.counted
  if (beyond === 0n) return 'ours'
  let sum = 0n
  for (const { burn } of leaves.toSorted(byLeaf)) {
    if (burn.leafIndex < count.checkpoint) continue
    sum += burn.value
    if (sum === beyond) return 'ours'
  }
  return sum > beyond ? 'open' : 'foreign'
}

export const byLeaf = (a: Placed, b: Placed): number => (a.burn.leafIndex < b.burn.leafIndex ? -1 : 1)

type Placed = { readonly burn: Pick<Burn, 'leafIndex'> }

export const sumBelow = (leaves: readonly EpochLeaf[], checkpoint: bigint): bigint =>
  leaves.reduce((sum, { burn }) => (burn.leafIndex < checkpoint ? sum + burn.value : sum), 0n)

export type Planned = { readonly start: bigint; readonly end: bigint; readonly leaves: readonly EpochLeaf[] }

/**
 * The next proof, or undefined when there is nothing to count below `limit`, or when its payers would be no company. A proof
 * goes on from the checkpoint. When a leaf below the checkpoint was missed, counting begins at zero again. Nothing is counted
 * while `limit` is below the checkpoint: a sum with a smaller end would name payments by its difference to the sum that is
 * known.
 */
export function planBatch(given: {
  readonly leaves: readonly EpochLeaf[]
  readonly count: BatchCount
  readonly base: BatchCount | undefined
  /** Leaves below this may be counted: the root covers them, and all transfers there were searched. */
  readonly limit: bigint
  /** The company that the proof must have. Undefined for burns that wait no longer: then it counts all that it can. */
  readonly company: Company | undefined
  /** In [0, 1). Draws the end. */
  readonly chance: number
  readonly rangeOf: BatchPorts['rangeOf']
}): Planned | undefined {
  const { leaves, count, base, limit, company, chance, rangeOf } = given
  if (limit < count.checkpoint) return undefined
  const start = compareCount(leaves, count, base) === 'missed' ? 0n : count.checkpoint
  const open = leaves
    .filter(({ burn }) => burn.value > 0n && burn.leafIndex >= start && burn.leafIndex < limit)
    .toSorted(byLeaf)
  if (open.length === 0) return undefined
  const indices = open.map(({ burn }) => burn.leafIndex)
  const least = company ? companyAfter(open, company) : open.length
  if (least === undefined) return undefined
  const { count: used, end } = rangeOf(indices, limit, { least, chance })
  return used < least && company ? undefined : { start, end, leaves: open.slice(0, used) }
}
