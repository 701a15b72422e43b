import assert from 'node:assert/strict'
import { hubHeight, type RootCircuit, rootBatches } from './circuit-name.js'
import { nextHashChain, type Transfer } from './hash-chain.js'
import type { Hex } from './hex.js'
import { rootOfPath, transferLeaf, treeHeight } from './merkle-tree.js'
import { hash2 } from './poseidon.js'
import { evaluateTransfers, rootChallenge } from './root-challenge.js'

/** Inputs of a circuit by signal name. They contain secrets and payers, so keep them private. */
export type CircuitInput = Readonly<Record<string, bigint | readonly bigint[]>>

const valueEnd = 1n << 248n

/** One burn, as a mint needs it. */
export type Withdrawal = {
  readonly root: bigint
  readonly recipientHash: bigint
  /** The secret of the burn address: base secret plus powNonce. */
  readonly secret: bigint
  /** The transfer's sender: the payer, even when the permit burner moved the tokens. */
  readonly from: Hex
  readonly value: bigint
  /** Part of the value that is left unminted. */
  readonly delta?: bigint
  readonly leafIndex: number
  /** From the leaf upwards: 40 siblings under a token's root, 46 under the hub's. */
  readonly siblings: readonly bigint[]
}

export type WithdrawWitness = {
  readonly circuit: 'withdraw-local' | 'withdraw-global'
  readonly input: CircuitInput
}

/** Inputs of a withdraw circuit. The caller must check that the path leads to the root; the circuit checks it again. */
export function withdrawInput(withdrawal: Withdrawal): WithdrawWitness {
  const { root, recipientHash, secret, from, value, delta = 0n, leafIndex, siblings } = withdrawal
  const depth = siblings.length
  assert(depth === treeHeight || depth === treeHeight + hubHeight, 'expected 40 or 46 siblings')
  assert(delta >= 0n && delta <= value && value < valueEnd, 'expected 0 <= delta <= value < 2^248')
  assert(Number.isInteger(leafIndex) && leafIndex >= 0 && leafIndex < 2 ** depth, 'the leaf is in the tree')
  return {
    circuit: depth === treeHeight ? 'withdraw-local' : 'withdraw-global',
    input: {
      root,
      recipient: recipientHash,
      withdrawValue: value - delta,
      value,
      delta,
      secret,
      from: BigInt(from),
      leafIndex: BigInt(leafIndex),
      siblings,
    },
  }
}

/** Transfers to append, and the part of the tree around their place. */
export type RootStep = {
  readonly circuit: RootCircuit
  /** Leaves in the tree before the step. */
  readonly oldIndex: number
  /** The token's hash chain at `oldIndex`. */
  readonly oldChain: bigint
  /** Leaves already in the current aligned subtree of 16 or 64: `oldIndex % batch` of them. */
  readonly oldLeaves: readonly bigint[]
  /**
   * Siblings from the root of that subtree up to the root of the tree: 36 or 34 of them, complete on the left and empty
   * on the right. They are the same at every size within the subtree: `pathAt(oldIndex, newIndex).siblings` from level
   * 4 or 6 on.
   */
  readonly siblings: readonly bigint[]
  /** At least one, and no more than the subtree has places left. */
  readonly transfers: readonly Transfer[]
}

export type RootWitness = {
  readonly circuit: RootCircuit
  readonly input: CircuitInput
  readonly oldRoot: bigint
  readonly newIndex: number
  readonly newChain: bigint
  readonly newRoot: bigint
}

/** Inputs of a root circuit, and the roots computed from them. Compare `oldRoot` with the proved root. */
export function rootInput(step: RootStep): RootWitness {
  const { circuit, oldIndex, oldChain, oldLeaves, siblings, transfers } = step
  const width = rootBatches[circuit]
  const segment = Math.floor(oldIndex / width)
  const filled = oldLeaves.length + transfers.length
  assert(oldLeaves.length === oldIndex % width, 'expected all old leaves of the subtree')
  assert(transfers.length > 0 && filled <= width, 'the transfers do not fit into the subtree')
  assert(siblings.length === treeHeight - Math.log2(width), 'expected the siblings above the subtree')
  assert(
    transfers.every(({ value }) => value >= 0n && value < valueEnd),
    'expected values below 2^248',
  )

  const padded = <T>(items: readonly T[], pick: (item: T) => bigint, start = 0): bigint[] => {
    const row = new Array<bigint>(width).fill(0n)
    for (const [at, item] of items.entries()) row[start + at] = pick(item)
    return row
  }
  const prefix = (length: number) => padded(new Array<bigint>(length).fill(1n), (one) => one)
  const from = ({ from: sender }: Transfer) => BigInt(sender)
  const to = ({ to: receiver }: Transfer) => BigInt(receiver)
  const value = ({ value: moved }: Transfer) => moved
  const newLeaves = transfers.map((transfer) => transferLeaf(2, transfer))

  const rootOf = (leaves: readonly bigint[]) =>
    rootOfPath(subtreeRoot(padded(leaves, (leaf) => leaf)), segment, siblings)
  const oldRoot = rootOf(oldLeaves)
  const newRoot = rootOf([...oldLeaves, ...newLeaves])
  const newIndex = oldIndex + transfers.length
  const newChain = transfers.reduce((chain, transfer) => nextHashChain(2, chain, transfer), oldChain)
  const z = rootChallenge({ oldIndex, oldChain, oldRoot, newIndex, newChain, newRoot })
  const at = oldLeaves.length
  return {
    circuit,
    oldRoot,
    newIndex,
    newChain,
    newRoot,
    input: {
      oldIndex: BigInt(oldIndex),
      oldRoot,
      newIndex: BigInt(newIndex),
      newRoot,
      z,
      y: evaluateTransfers(z, transfers),
      from: padded(transfers, from, at),
      to: padded(transfers, to, at),
      value: padded(transfers, value, at),
      // The last place of the subtree is empty before the step, so the circuit has no input for it.
      leaf: padded(oldLeaves, (leaf) => leaf).slice(0, -1),
      kept: prefix(at).slice(0, -1),
      filled: prefix(filled),
      segment: BigInt(segment),
      siblings,
    },
  }
}

function subtreeRoot(leaves: readonly bigint[]): bigint {
  let level = leaves
  while (level.length > 1) {
    const below = level
    level = Array.from({ length: below.length / 2 }, (_, at) =>
      hash2(below[2 * at] ?? 0n, below[2 * at + 1] ?? 0n),
    )
  }
  return level[0] ?? 0n
}
