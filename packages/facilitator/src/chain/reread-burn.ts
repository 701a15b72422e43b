/** Looks again for a burn that was confirmed once: a reorg may have moved it or taken it away. */
import { blockCall, type JsonRpc, readBlock } from '@svc-zerc20/evm'
import { SvcError } from '@svc-zerc20/protocol'
import type { RereadBurn } from '../payment/finalize/ports.js'
import type { Chain, TransferLog } from '../payment/ports.js'
import type { Burn, Challenge } from '../payment/records.js'

export function createRereadBurn(deps: {
  readonly chain: Pick<Chain, 'selfTransferFacts' | 'findExecutedBurn' | 'headNumber'>
  readonly rpc: Pick<JsonRpc, 'batch'>
}): RereadBurn {
  const { chain, rpc } = deps

  /** A node that is behind, or that lost its index of receipts, shows no receipt either. */
  async function assertReorged({ blockNumber, blockHash }: Burn): Promise<void> {
    const [answer] = await rpc.batch([blockCall(blockNumber)])
    const block = readBlock(answer)
    if (!block) throw new SvcError('node_behind', `the node has no block ${blockNumber}`)
    if (block.hash === blockHash) {
      throw new SvcError('rpc_error', `the node has block ${blockNumber}, but not the burn in it`)
    }
  }

  return async (challenge, burn) => {
    const { receipt, headNumber } = await chain.selfTransferFacts(
      burn.txHash,
      challenge.payTo,
      Number.POSITIVE_INFINITY,
    )
    const transfer = receipt?.succeeded ? transferOf(receipt.transfers, challenge, burn) : undefined
    if (receipt && transfer) {
      const { blockNumber, blockHash } = receipt
      const { leafIndex, from, value } = transfer
      const current = { txHash: burn.txHash, blockNumber, blockHash, leafIndex, from, value }
      return { burn: current, depth: depthAt(blockNumber, headNumber) }
    }
    if (!receipt) await assertReorged(burn)
    // The relayer may have put the burn into another transaction meanwhile.
    const moved = await chain.findExecutedBurn(challenge, burn.from)
    return moved && { burn: moved, depth: depthAt(moved.blockNumber, chain.headNumber()) }
  }
}

/** The recorded leaf. If a reorg moved it, the largest leaf that covers the burn, as at its acceptance. */
function transferOf(
  transfers: readonly TransferLog[],
  challenge: Challenge,
  burn: Burn,
): TransferLog | undefined {
  const covering = transfers
    .filter(({ to, value }) => to === challenge.payTo && value >= leastOf(challenge, burn))
    .toSorted((a, b) => (a.value === b.value ? 0 : a.value < b.value ? 1 : -1))
  const same = covering.find(({ leafIndex, value }) => leafIndex === burn.leafIndex && value === burn.value)
  return same ?? covering[0]
}

const depthAt = (blockNumber: bigint, head: bigint): number => Number(head - blockNumber) + 1

/** A burn that bought nothing may be smaller than the amount. */
const leastOf = ({ amount }: Challenge, { value }: Burn): bigint => (value < amount ? value : amount)
