/** Reads how far our account has counted the burns of epochs. */
import { verifierAbi } from '@svc-zerc20/contracts'
import type { JsonRpc, RpcAnswer } from '@svc-zerc20/evm'
import { type Address, parseAddress, parseTxHash } from '@svc-zerc20/protocol'
import type { Epoch } from '../payment/epochs/epoch.js'
import type { BatchCount, BatchPorts, CountedBatch, ForeignCount } from '../payment/epochs/ports.js'
import { firstBlockAt, readEvents } from './past-events.js'
import { askView, readDeepBlock, readView } from './verifier.js'

export function createBatchCounts(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly verifier: Address
  /** The account that sends our batches. Another account's count is another one. */
  readonly submitter: Address
  readonly recipientHashOf: (epoch: Epoch) => bigint
  /** No block before this one has counts. */
  readonly deployedBlock: number
  /** Blocks, its own included, after which a count is deep. */
  readonly confirmations: number
}): Pick<BatchPorts, 'counts' | 'findCounts' | 'foreignCounts'> {
  const { rpc, verifier, submitter, recipientHashOf } = deps

  async function countsAt(epochs: readonly Epoch[], block: string): Promise<readonly BatchCount[]> {
    const hashes = epochs.map(recipientHashOf)
    const answers = await rpc.batch(
      hashes.flatMap((hash) => [
        askView(verifier, block, 'batchCount', hash, submitter),
        askView(verifier, block, 'totalTeleported', hash),
      ]),
    )
    return epochs.map((_, i) => countIn(answers[2 * i], answers[2 * i + 1]))
  }

  async function countsIn(
    args: { readonly recipientHash: bigint; readonly submitter?: Address },
    fromBlock: bigint,
  ): Promise<(CountedBatch & ForeignCount)[]> {
    const wanted = { address: verifier, abi: verifierAbi, eventName: 'BatchCounted', args } as const
    const batches = await readEvents(rpc, { ...wanted, fromBlock: Number(fromBlock) })
    return batches.flatMap(({ args: batch, transactionHash, blockNumber }) => {
      const txHash = parseTxHash(transactionHash)
      const { counted, submitter } = batch
      const [start, end] = [BigInt(batch.start), BigInt(batch.end)]
      return txHash ? [{ txHash, blockNumber: BigInt(blockNumber ?? 0), start, end, counted, submitter }] : []
    })
  }

  return {
    async counts(epochs) {
      const deepBlock = await readDeepBlock(rpc, deps.confirmations)
      const latest = await countsAt(epochs, 'latest')
      const deep = await countsAt(epochs, deepBlock)
      return epochs.map((_, i) => ({ latest: latest[i] ?? none, deep: deep[i] ?? none }))
    },

    findCounts: (epoch, fromBlock) =>
      countsIn({ recipientHash: recipientHashOf(epoch), submitter }, fromBlock),

    async foreignCounts(epoch) {
      // A clock that was ahead made its addresses before the epoch began on the chain.
      const began = await firstBlockAt(rpc, epoch.start - clockAheadSeconds, deps.deployedBlock)
      const all = await countsIn({ recipientHash: recipientHashOf(epoch) }, BigInt(began))
      return all.filter((count) => parseAddress(count.submitter) !== submitter)
    },
  }
}

const clockAheadSeconds = 3_600

const none: BatchCount = { checkpoint: 0n, counted: 0n, minted: 0n }

/** Nothing was counted where there was no verifier yet. */
function countIn(count: RpcAnswer | undefined, total: RpcAnswer | undefined): BatchCount {
  const ours = readView<readonly [bigint | number, bigint]>('batchCount', count)
  const minted = readView<bigint>('totalTeleported', total)
  if (!ours || minted === undefined) return none
  return { checkpoint: BigInt(ours[0]), counted: ours[1], minted }
}
