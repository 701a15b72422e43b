/**
 * Mints of one burn each. A mint has the amount of its burn and comes later, under a root that covers it. Among the burns
 * that fit, the observer weighs time and roots, as in record linkage: it begins with the order of the chain, learns from
 * its own pairs how late mints usually come, and pairs again. Each mint pays one burn, and no burn is paid twice.
 */
import type { Mint, Root, Transfer } from '../chain-view.js'
import { createPairClass } from './evidence.js'
import type { Guess } from './guess.js'
import type { SenderRule } from './senders.js'

const learningRounds = 12
const balancingRounds = 30
/** Earlier burns of the same amount are left out: a mint that late tells nothing any more. */
const candidatesMax = 256

type Pair = { readonly mint: number; readonly burn: number; readonly kind: string; weight: number }

export function pairEqualAmounts(
  mints: readonly Mint[],
  burns: readonly Transfer[],
  roots: readonly Root[],
  fits: SenderRule,
): readonly Guess[] {
  const pairs = feasiblePairs(mints, burns, roots, fits)
  beginInOrder(pairs)
  const known = shares(pairs, () => 1)
  for (let round = 0; round < learningRounds; round++) {
    const learned = shares(pairs, ({ weight }) => weight)
    for (const pair of pairs) pair.weight = (learned.get(pair.kind) ?? 0) / (known.get(pair.kind) ?? 1)
    balance(pairs)
  }
  const paid = mints.map(() => new Map<Transfer, number>())
  for (const { mint, burn, weight } of pairs) {
    const candidate = burns[burn]
    if (candidate !== undefined) paid[mint]?.set(candidate, weight)
  }
  return mints.map((mint, i) => ({ mint, paid: paid[i] ?? new Map() }))
}

function feasiblePairs(
  mints: readonly Mint[],
  burns: readonly Transfer[],
  roots: readonly Root[],
  fits: SenderRule,
): Pair[] {
  const kindOf = createPairClass(roots)
  const byValue = grouped(burns.entries(), ([, { value }]) => value)
  return mints.flatMap((mint, m) =>
    (byValue.get(mint.value) ?? [])
      .filter(([, burn]) => burn.leaf < mint.rootSize && burn.time <= mint.time && fits(mint, burn))
      .slice(-candidatesMax)
      .map(([b, burn]) => ({ mint: m, burn: b, kind: kindOf(mint, burn), weight: 0 })),
  )
}

/** The first opinion: mints come in the order of their burns. */
function beginInOrder(pairs: readonly Pair[]): void {
  const taken = new Set<number>()
  for (const candidates of grouped(pairs, ({ mint }) => mint).values()) {
    const first = candidates.find(({ burn }) => !taken.has(burn)) ?? candidates[0]
    if (first === undefined) continue
    taken.add(first.burn)
    first.weight = 1
  }
}

/** Class → its share of all weight. Every class keeps a little, so that no first opinion is final. */
function shares(pairs: readonly Pair[], weightOf: (pair: Pair) => number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const pair of pairs) sums.set(pair.kind, (sums.get(pair.kind) ?? 0) + weightOf(pair))
  const total = [...sums.values()].reduce((sum, weight) => sum + weight, 0)
  return new Map([...sums].map(([kind, weight]) => [kind, (weight + 0.01) / (total + 0.01 * sums.size)]))
}

/** Every mint's weights add up to one, and no burn's to more. */
function balance(pairs: readonly Pair[]): void {
  const sizeOf = (side: Side) => pairs.reduce((most, pair) => Math.max(most, pair[side]), 0) + 1
  const [burnSums, mintSums] = [new Float64Array(sizeOf('burn')), new Float64Array(sizeOf('mint'))]
  for (let round = 0; round < balancingRounds; round++) {
    scale(pairs, 'burn', burnSums, (sum) => Math.max(1, sum))
    scale(pairs, 'mint', mintSums, (sum) => sum || 1)
  }
}

type Side = 'mint' | 'burn'

function scale(
  pairs: readonly Pair[],
  side: Side,
  sums: Float64Array,
  divisor: (sum: number) => number,
): void {
  sums.fill(0)
  for (const pair of pairs) sums[pair[side]] = (sums[pair[side]] ?? 0) + pair.weight
  for (const pair of pairs) pair.weight /= divisor(sums[pair[side]] ?? 1)
}

/** Items by a key, in order. */
function grouped<K, T>(items: Iterable<T>, keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
