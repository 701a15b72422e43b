/** The token's Merkle tree, built from its logs as a node tells them. Heavy: it runs in its own thread. */
import { type ChainLog, indexedTransferTopic, type JsonRpc, scanLogs, transfersIn } from '@svc-zerc20/evm'
import { type Address, type ErrorCode, SvcError } from '@svc-zerc20/protocol'
import { createMemoryNodes, createMerkleTree, type MerkleTree, transferLeaf } from '@svc-zerc20/zk'
import type { ProvedRoot } from '../payment/finalize/ports.js'

export type LogTree = {
  /** Siblings of a leaf under a proved root; reads what is missing of the logs first. */
  siblings(leafIndex: bigint, root: Pick<ProvedRoot, 'size' | 'root'>): Promise<readonly bigint[]>
}

export type LogTreeOptions = {
  readonly token: Address
  /** A block at or before the token's first transfer. */
  readonly fromBlock: number
  /** Blocks in one question for logs; fewer while the node refuses. */
  readonly spanBlocksMax: number
}

export function createLogTree(rpc: Pick<JsonRpc, 'batch'>, options: LogTreeOptions): LogTree {
  const { token, fromBlock, spanBlocksMax } = options
  const filter = { address: token, topics: [indexedTransferTopic] }
  let tree = emptyTree()
  let nextBlock = fromBlock

  function append(logs: readonly ChainLog[]): void {
    const transfers = transfersIn(logs, token)
    for (const [i, { leafIndex }] of transfers.entries()) {
      if (leafIndex !== BigInt(tree.size() + i)) {
        throw new SvcError('tree_gap', `the node's logs skip from leaf ${tree.size() + i} to ${leafIndex}`)
      }
    }
    tree.append(transfers.map((transfer) => transferLeaf(2, transfer)))
  }

  async function readUpTo(size: bigint): Promise<void> {
    if (BigInt(tree.size()) >= size) return
    for await (const { logs, lastBlock } of scanLogs(rpc, filter, { fromBlock: nextBlock, spanBlocksMax })) {
      append(logs)
      nextBlock = lastBlock + 1
      if (BigInt(tree.size()) >= size) return
    }
    throw new SvcError('tree_behind', `the node's logs have ${tree.size()} leaves, the root has ${size}`)
  }

  type Wanted = Pick<ProvedRoot, 'size' | 'root'>
  async function isRightAfterReading({ size, root }: Wanted): Promise<boolean> {
    await readUpTo(size)
    return tree.rootAt(Number(size)) === root
  }

  return {
    async siblings(leafIndex, wanted) {
      const isFresh = nextBlock === fromBlock
      try {
        if (await isRightAfterReading(wanted)) return siblingsAt(leafIndex, wanted)
      } catch (err) {
        if (isFresh || !(err instanceof SvcError) || !reorgSigns.has(err.code)) throw err
      }
      if (!isFresh) {
        // A reorg changed leaves that were read: they are all read again, which is rare and always right.
        tree = emptyTree()
        nextBlock = fromBlock
        if (await isRightAfterReading(wanted)) return siblingsAt(leafIndex, wanted)
      }
      throw new SvcError('root_mismatch', `the token's logs do not give the proved root at ${wanted.size}`)
    },
  }

  function siblingsAt(leafIndex: bigint, { size }: Wanted): readonly bigint[] {
    return tree.pathAt(Number(leafIndex), Number(size)).siblings
  }
}

const reorgSigns = new Set<ErrorCode>(['tree_gap', 'tree_behind'])
const emptyTree = (): MerkleTree => createMerkleTree({ store: createMemoryNodes(), size: 0 })
