/** The token's Merkle tree, built from its logs as a node tells them. Heavy: it runs in a thread of its own. */
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { createMemoryNodes, createMerkleTree, type MerkleTree, transferLeaf } from '@svc-zerc20/zk'
import type { ProvedRoot } from '../payment/mint-ports.js'
import { type JsonRpc, quantityOf, resultOf } from './json-rpc.js'
import { indexedTransferTopic, type Log, transfersIn } from './transfer-log.js'

export type LogTree = {
  /** Siblings of a leaf under a proved root; reads what is missing of the logs first. */
  siblings(leafIndex: bigint, root: Pick<ProvedRoot, 'size' | 'root'>): Promise<readonly bigint[]>
}

export type LogTreeOptions = {
  readonly token: Address
  /** A block at or before the token's first transfer. */
  readonly fromBlock: number
  /** Blocks in one question for logs; halved while the node refuses. */
  readonly spanBlocksMax: number
}

export function createLogTree(rpc: JsonRpc, options: LogTreeOptions): LogTree {
  const { token, fromBlock, spanBlocksMax } = options
  let tree = emptyTree()
  let nextBlock = fromBlock
  let span = spanBlocksMax

  function startAnew(): void {
    tree = emptyTree()
    nextBlock = fromBlock
  }

  async function readLogs(from: number, to: number): Promise<readonly Log[]> {
    const [answer] = await rpc.batch([
      {
        method: 'eth_getLogs',
        params: [{ address: token, topics: [indexedTransferTopic], fromBlock: hex(from), toBlock: hex(to) }],
      },
    ])
    return resultOf('eth_getLogs', answer) as Log[]
  }

  function append(logs: readonly Log[]): void {
    const transfers = transfersIn(logs, token)
    for (const [i, { leafIndex }] of transfers.entries()) {
      if (leafIndex !== BigInt(tree.size() + i)) {
        throw new SvcError('tree_gap', `the node's logs skip from leaf ${tree.size() + i} to ${leafIndex}`)
      }
    }
    tree.append(transfers.map((transfer) => transferLeaf(2, transfer)))
  }

  async function readUpTo(size: bigint): Promise<void> {
    const [answer] = await rpc.batch([{ method: 'eth_blockNumber', params: [] }])
    const head = Number(quantityOf('eth_blockNumber', answer))
    while (BigInt(tree.size()) < size && nextBlock <= head) {
      const last = Math.min(nextBlock + span - 1, head)
      try {
        append(await readLogs(nextBlock, last))
        nextBlock = last + 1
        span = Math.min(span * 2, spanBlocksMax)
      } catch (err) {
        // Nodes bound the blocks or the logs of one answer, each in its own way.
        if (span === 1 || (err instanceof SvcError && err.code === 'tree_gap')) throw err
        span = Math.floor(span / 2)
      }
    }
    if (BigInt(tree.size()) < size) {
      throw new SvcError('tree_behind', `the node's logs have ${tree.size()} leaves, the root has ${size}`)
    }
  }

  const matches = ({ size, root }: Pick<ProvedRoot, 'size' | 'root'>) =>
    BigInt(tree.size()) >= size && tree.rootAt(Number(size)) === root

  return {
    async siblings(leafIndex, root) {
      try {
        await readUpTo(root.size)
      } catch (err) {
        if (!(err instanceof SvcError && err.code === 'tree_gap') || nextBlock === fromBlock) throw err
        startAnew()
        await readUpTo(root.size)
      }
      // A reorg changed leaves that were read: they are all read again, which is rare and always right.
      if (!matches(root) && tree.size() > 0) {
        startAnew()
        await readUpTo(root.size)
      }
      if (!matches(root)) {
        throw new SvcError('root_mismatch', `the token's logs do not give the proved root at ${root.size}`)
      }
      return tree.pathAt(Number(leafIndex), Number(root.size)).siblings
    },
  }
}

const emptyTree = (): MerkleTree => createMerkleTree({ store: createMemoryNodes(), size: 0 })
const hex = (number: number): string => `0x${number.toString(16)}`
