import { indexedTransferTopic } from '@svc-zerc20/evm'
import { createMemoryNodes, createMerkleTree, rootOfPath, transferLeaf } from '@svc-zerc20/zk'
import { encodeAbiParameters, pad, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { addressOf, units } from '../../test/challenges.js'
import { blocksUpTo, scriptedRpc } from '../../test/scripted-rpc.js'
import { createLogTree } from './log-tree.js'

const token = addressOf(0xa1)
const transferOf = (seed: number) => ({
  from: addressOf(seed),
  to: addressOf(seed + 1),
  value: units(BigInt(seed)),
})
const logOf = (leafIndex: number, seed: number) => {
  const { from, to, value } = transferOf(seed)
  const data = encodeAbiParameters(
    [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }],
    [from, to, value],
  )
  return { address: token, topics: [indexedTransferTopic, pad(toHex(leafIndex))], data }
}

/** A chain with one transfer a block. */
function chainOf(seeds: number[]) {
  const spans: string[] = []
  const rpc = scriptedRpc({
    ...blocksUpTo(() => seeds.length - 1),
    eth_getLogs({ fromBlock, toBlock }: { fromBlock: string; toBlock: string }) {
      const [from, to] = [Number(fromBlock), Number(toBlock)]
      spans.push(`${from}-${to}`)
      return seeds.slice(from, to + 1).map((seed, i) => logOf(from + i, seed))
    },
  })
  const rootOf = (size: number) => {
    const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })
    tree.append(seeds.slice(0, size).map((seed) => transferLeaf(2, transferOf(seed))))
    return { size: BigInt(size), root: tree.rootAt(size) }
  }
  return { rpc, spans, rootOf }
}

const isPath = (seed: number, index: number, siblings: readonly bigint[], root: bigint) =>
  rootOfPath(transferLeaf(2, transferOf(seed)), index, siblings) === root

describe('our own tree', () => {
  it('gives paths under the newest root and under earlier ones, and reads no block twice', async () => {
    const { rpc, spans, rootOf } = chainOf([1, 2, 3, 4, 5])
    const tree = createLogTree(rpc, { token, fromBlock: 0, spanBlocksMax: 2 })
    const early = rootOf(3)
    expect(isPath(2, 1, await tree.siblings(1n, early), early.root)).toBe(true)
    const late = rootOf(5)
    expect(isPath(5, 4, await tree.siblings(4n, late), late.root)).toBe(true)
    expect(isPath(1, 0, await tree.siblings(0n, early), early.root)).toBe(true)
    expect(spans).toEqual(['0-1', '2-3', '4-4'])
  })

  it('reads everything again after a reorg changed what it had read', async () => {
    const seeds = [1, 2, 3]
    const { rpc, rootOf } = chainOf(seeds)
    const tree = createLogTree(rpc, { token, fromBlock: 0, spanBlocksMax: 100 })
    await tree.siblings(0n, rootOf(3))
    seeds.splice(1, 2, 8, 9, 10)
    const now = rootOf(4)
    expect(isPath(9, 2, await tree.siblings(2n, now), now.root)).toBe(true)
  })

  it('says so when the logs have a gap, are behind, or give another root', async () => {
    const { rpc, rootOf } = chainOf([1, 2, 3])
    const tree = createLogTree(rpc, { token, fromBlock: 0, spanBlocksMax: 100 })
    await expect(tree.siblings(0n, { size: 4n, root: 1n })).rejects.toThrow('have 3 leaves, the root has 4')
    await expect(tree.siblings(0n, { ...rootOf(3), root: 1n })).rejects.toThrow('do not give the proved root')
    const gap = createLogTree(rpc, { token, fromBlock: 1, spanBlocksMax: 100 })
    await expect(gap.siblings(0n, rootOf(3))).rejects.toThrow('skip from leaf 0 to 1')
  })
})
