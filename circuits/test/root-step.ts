import { type CircuitInput, evaluateTransfers, hash2, type Transfer, transferLeaf } from '@svc-zerc20/zk'

/** A step of a small tree, with its parts exposed so that a test can falsify them. */
export type SmallStep = {
  readonly depth: number
  readonly height: number
  readonly segment: number
  /** All leaves of the tree before the step, by position. */
  readonly before: readonly bigint[]
  /** Contents of the subtree: old leaves, and the transfers by their place. */
  readonly kept: readonly number[]
  readonly added: Readonly<Record<number, Transfer>>
}

/** The point at which the polynomial is evaluated. Any number works for a circuit. */
export const z = 987_654_321n

/** Inputs of a root circuit in which all follows from where things stand, whether that is allowed or not. */
export function stepInput({ depth, height, segment, before, kept, added }: SmallStep): CircuitInput {
  const width = 2 ** height
  const start = segment * width
  const places = Array.from({ length: width }, (_, place) => place)
  const leaf = places.map((place) => (kept.includes(place) ? (before[start + place] ?? 0n) : 0n))
  const after = Array.from({ length: 2 ** depth }, (_, at) => {
    const place = at - start
    if (place < 0 || place >= width) return before[at] ?? 0n
    const transfer = added[place]
    return transfer === undefined ? (leaf[place] ?? 0n) : transferLeaf(2, transfer)
  })
  const of = (pick: (transfer: Transfer) => bigint) =>
    places.map((place) => (added[place] === undefined ? 0n : pick(added[place])))
  return {
    oldIndex: BigInt(start + kept.length),
    oldRoot: rootOf(before, depth),
    newIndex: BigInt(start + kept.length + Object.keys(added).length),
    newRoot: rootOf(after, depth),
    z,
    y: evaluateTransfers(z, Object.values(added)),
    from: of(({ from }) => BigInt(from)),
    to: of(({ to }) => BigInt(to)),
    value: of(({ value }) => value),
    leaf: leaf.slice(0, -1),
    kept: places.slice(0, -1).map((place) => BigInt(kept.includes(place))),
    filled: places.map((place) => BigInt(kept.includes(place) || added[place] !== undefined)),
    segment: BigInt(segment),
    siblings: siblingsOf(before, depth, height, segment),
  }
}

/** The root of a tree, level by level. */
export function rootOf(leaves: readonly bigint[], depth: number): bigint {
  return levelsOf(leaves, depth)[depth]?.[0] ?? 0n
}

function siblingsOf(leaves: readonly bigint[], depth: number, height: number, segment: number): bigint[] {
  const levels = levelsOf(leaves, depth).slice(height, depth)
  return levels.map((level, up) => level[Math.floor(segment / 2 ** up) ^ 1] ?? 0n)
}

function levelsOf(leaves: readonly bigint[], depth: number): bigint[][] {
  let level = Array.from({ length: 2 ** depth }, (_, at) => leaves[at] ?? 0n)
  const levels = [level]
  while (level.length > 1) {
    const below = level
    level = Array.from({ length: below.length / 2 }, (_, at) =>
      hash2(below[2 * at] ?? 0n, below[2 * at + 1] ?? 0n),
    )
    levels.push(level)
  }
  return levels
}
