/** Mints of many burns by one proof: which burns fit into it, and the inputs of its circuit. */
import assert from 'node:assert/strict'
import type { Hex } from './hex.js'
import { rootOfPath, transferLeaf, treeHeight } from './merkle-tree.js'
import type { CircuitInput } from './witness.js'

/** The sizes of a batch circuit. */
export type BatchShape = {
  /** Levels between a leaf and the root. */
  readonly depth: number
  /** A window is an aligned subtree of this height. */
  readonly windowHeight: number
  /** Most burns of one proof. */
  readonly slots: number
  /** Most windows that they lie in. */
  readonly windows: number
}

/** Thirty burns in four windows: 32 would double the domain of the proof, and with it the time it takes. */
export const batchShape: BatchShape = { depth: treeHeight, windowHeight: 10, slots: 30, windows: 4 }

/** One of the burns of a batch. */
export type BatchBurn = {
  /** The secret of the burn address: base secret plus proof-of-work nonce. */
  readonly secret: bigint
  /** The transfer's sender: the payer, also when a helper moved the funds. */
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly leafIndex: number
  /** From the leaf up to the root. */
  readonly siblings: readonly bigint[]
}

/** Burns of one recipient hash, at distinct leaves from `start` up to but not including `end`, in rising order. */
export type BatchWithdrawal = {
  readonly root: bigint
  readonly recipientHash: bigint
  readonly start: number
  readonly end: number
  /** At least one. */
  readonly burns: readonly BatchBurn[]
}

const windowOf = (leafIndex: number, { windowHeight }: BatchShape) =>
  Math.floor(leafIndex / 2 ** windowHeight)

/** How many of these leaves, from the first on, fit into one proof. The indices rise. */
export function fittingLeaves(indices: readonly number[], shape: BatchShape = batchShape): number {
  const windows = new Set<number>()
  let count = 0
  for (const index of indices.slice(0, shape.slots)) {
    windows.add(windowOf(index, shape))
    if (windows.size > shape.windows) break
    count += 1
  }
  return count
}

/** Which leaves one proof counts, and how far: the first `count` of them, and the `end` that the proof publishes. */
export type BatchRange = { readonly count: number; readonly end: number }

/** How the end of a proof is drawn. */
export type BatchDraw = {
  /** So many leaves are to be in the proof, from the first on. Beside them half of its slots are filled in any case. */
  readonly least: number
  /** In [0, 1). */
  readonly chance: number
}

/**
 * Divides leaves among proofs. Where a proof takes all of them, `end` is the root's leaf count and tells nothing: a few that
 * were left behind would have no company. Otherwise chance draws it between the last leaf that the proof has to take and the
 * first one that it cannot, so that nobody chooses by paying where a proof ends.
 * @param indices All leaves of the recipient that are not counted yet. They rise and lie below `size`.
 * @param size Leaf count of the root.
 */
export function batchRange(
  indices: readonly number[],
  size: number,
  { least, chance }: BatchDraw,
  shape: BatchShape = batchShape,
): BatchRange {
  const fitting = fittingLeaves(indices, shape)
  const leftOut = indices[fitting]
  if (leftOut === undefined) return { count: fitting, end: size }
  const half = Math.ceil(fitting / 2)
  const taken = least > fitting ? half : Math.max(least, half)
  const lowest = (indices[taken - 1] ?? 0) + 1
  const end = leftOut - Math.floor(chance * (leftOut - lowest + 1))
  return { count: indices.filter((index) => index < end).length, end }
}

/** Inputs of the batch circuit. Whether the paths lead to the root is for the caller to check, and the circuit. */
export function batchWithdrawInput(
  { root, recipientHash, start, end, burns }: BatchWithdrawal,
  shape: BatchShape = batchShape,
): CircuitInput {
  const { depth, windowHeight, slots, windows } = shape
  const indices = burns.map(({ leafIndex }) => leafIndex)
  const [first] = burns
  assert(first !== undefined, 'a batch has at least one burn')
  assert(fittingLeaves(indices, shape) === burns.length, 'the burns fit into one proof')
  assert(
    indices.every((index, at) => index >= (at === 0 ? start : (indices[at - 1] ?? 0) + 1) && index < end),
    'leaves rise from start and lie below end',
  )
  assert(
    burns.every(({ siblings }) => siblings.length === depth),
    'every leaf has its path up to the root',
  )
  const numbers = [...new Set(indices.map((index) => windowOf(index, shape)))]
  const inEach = numbers.map(
    (number) => burns.find(({ leafIndex }) => windowOf(leafIndex, shape) === number) ?? first,
  )

  /** Unused slots and windows repeat the first. */
  const padded = <T, R>(items: readonly T[], length: number, pick: (item: T) => R, rest?: R): R[] =>
    Array.from({ length }, (_, at) => {
      const item = items[at]
      return item === undefined ? (rest ?? pick(items[0] as T)) : pick(item)
    })
  const ofSlot = <R>(pick: (burn: BatchBurn) => R, rest?: R) => padded(burns, slots, pick, rest)
  return {
    root,
    recipient: recipientHash,
    withdrawValue: burns.reduce((sum, { value }) => sum + value, 0n),
    start: BigInt(start),
    end: BigInt(end),
    window: padded(numbers, windows, BigInt),
    windowRoot: padded(inEach, windows, (burn) => windowRoot(burn, windowHeight)),
    windowSiblings: padded(inEach, windows, ({ siblings }) => siblings.slice(windowHeight)).flat(),
    used: ofSlot(() => 1n, 0n),
    value: ofSlot(({ value }) => value),
    secret: ofSlot(({ secret }) => secret),
    from: ofSlot(({ from }) => BigInt(from)),
    place: ofSlot(({ leafIndex }) => BigInt(leafIndex % 2 ** windowHeight)),
    inWindow: ofSlot(({ leafIndex }) =>
      Array.from({ length: windows }, (_, at) => BigInt(numbers[at] === windowOf(leafIndex, shape))),
    ).flat(),
    siblings: ofSlot(({ siblings }) => siblings.slice(0, windowHeight)).flat(),
  }
}

function windowRoot({ leafIndex, siblings, ...transfer }: BatchBurn, windowHeight: number): bigint {
  return rootOfPath(transferLeaf(2, transfer), leafIndex % 2 ** windowHeight, siblings.slice(0, windowHeight))
}
