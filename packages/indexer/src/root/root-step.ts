/** One root proof: from stored transfers to the circuit's input, and on to the bytes that the verifier takes. */
import { encodeRootProof, verifierAbi } from '@svc-zerc20/contracts'
import { SvcError } from '@svc-zerc20/protocol'
import { type RootWitness, rootBatches, rootInput, transferLeaf } from '@svc-zerc20/zk'
import type { Hex } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import type { Database, StoredTransfer } from '../store/database.js'
import type { RootPlan } from './root-plan.js'

/** Transfers `[from, to)`. Throws `SvcError('transfers_gone')` when a reorg has taken some. */
export function transfersBetween(database: Database, from: number, to: number): StoredTransfer[] {
  return Array.from({ length: to - from }, (_, offset) => {
    const transfer = database.transferAt(from + offset)
    if (transfer === undefined) throw new SvcError('transfers_gone', `transfer ${from + offset} is gone`)
    return transfer
  })
}

/** The token's hash chain at a leaf count. */
export function hashChainAt(database: Database, size: number): bigint {
  return size === 0 ? 0n : (transfersBetween(database, size - 1, size)[0]?.hashChain ?? 0n)
}

/** The input of the circuit. */
export function witnessOf(database: Database, { circuit, oldIndex, newIndex }: RootPlan): RootWitness {
  const width = rootBatches[circuit]
  const start = Math.floor(oldIndex / width) * width
  return rootInput({
    circuit,
    oldIndex,
    oldChain: hashChainAt(database, oldIndex),
    oldLeaves: transfersBetween(database, start, oldIndex).map((transfer) => transferLeaf(2, transfer)),
    siblings: database.pathAt(oldIndex, newIndex).siblings.slice(Math.log2(width)),
    transfers: transfersBetween(database, oldIndex, newIndex),
  })
}

/** Call data of `proveTransferRoot`. The transfers beyond the proof lead on to a reserved checkpoint. */
export function proveCall(
  database: Database,
  claim: { plan: RootPlan; newRoot: bigint; proof: readonly bigint[]; checkpoint: number },
): Hex {
  const { plan, newRoot, proof, checkpoint } = claim
  const bytes = encodeRootProof({
    oldIndex: BigInt(plan.oldIndex),
    count: plan.newIndex - plan.oldIndex,
    batch: rootBatches[plan.circuit],
    newRoot,
    transfers: transfersBetween(database, plan.oldIndex, checkpoint),
    proof,
  })
  return encodeFunctionData({ abi: verifierAbi, functionName: 'proveTransferRoot', args: [bytes] })
}

/** Call data of `reserveHashChain`. */
export const reserveCall = (): Hex =>
  encodeFunctionData({ abi: verifierAbi, functionName: 'reserveHashChain', args: [] })

/** Call data of `reserveEarlierHashChain`, from a reserved checkpoint back to an index. */
export function reserveEarlierCall(database: Database, index: number, checkpoint: number): Hex {
  const transfers = transfersBetween(database, index, checkpoint).map(({ from, to, value }) => ({
    from,
    to,
    value,
  }))
  return encodeFunctionData({
    abi: verifierAbi,
    functionName: 'reserveEarlierHashChain',
    args: [BigInt(index), hashChainAt(database, index), transfers],
  })
}
