/**
 * The folder: transfers, tree, roots and blocks in LevelDB. Every change is one atomic batch that is on the disk
 * before the next begins, so that a process killed at any time finds the last whole state. The folder belongs to
 * one token on one chain, and to one process at a time (LevelDB holds a lock on it).
 */
import assert from 'node:assert/strict'
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { createMerkleTree, type MerklePath, transferLeaf, treeHeight } from '@svc-zerc20/zk'
import type { ReportedTransfer } from '../chain/transfer.js'
import { limits } from '../limits.js'
import { createBatch } from './batch.js'
import { type Level, openFolder } from './folder.js'
import {
  decodeBlock,
  decodeCount,
  decodeTransfer,
  encodeBlock,
  encodeCount,
  encodeTransfer,
  indexOfReceived,
  keys,
  type StoredTransfer,
  type SyncedBlock,
} from './record.js'

/** A transfer with the hash chain that the sync computed and compared. */
export type ChainedTransfer = ReportedTransfer & { readonly hashChain: bigint }

export type Database = {
  /** The last block whose transfers are on the disk. */
  head(): SyncedBlock
  /** The last block in which the token itself confirmed what is stored. */
  verified(): SyncedBlock
  transferAt(index: number): StoredTransfer | undefined
  /** Transfers to an address, oldest first. */
  transfersTo(to: Address, limit: number): Promise<readonly StoredTransfer[]>
  /** The tree at a past size, from zero up to the head's. */
  rootAt(size: number): bigint
  pathAt(leafIndex: number, size: number): MerklePath
  /** The size at which the tree had this root. */
  sizeOfRoot(root: bigint): number | undefined
  /** Blocks with transfers, newest first, then the block before the first; at most `count` below `before`. */
  blocksBefore(before: number, count: number): Promise<readonly SyncedBlock[]>
  /** Puts whole blocks of transfers behind the head and moves it to `head`. All or nothing. */
  append(transfers: readonly ChainedTransfer[], head: SyncedBlock, isVerified: boolean): Promise<void>
  /** Goes back to an earlier block. All or nothing. */
  truncate(to: SyncedBlock): Promise<void>
  close(): Promise<void>
}

/** Opens or creates a folder; throws what `openFolder` throws. */
export async function openDatabase(deps: Parameters<typeof openFolder>[0]): Promise<Database> {
  const level = await openFolder(deps)
  try {
    return createDatabase(level)
  } catch (error) {
    await level.close()
    throw error
  }
}

function createDatabase(level: Level): Database {
  const stored = (key: Buffer): SyncedBlock => {
    const value = level.getSync(key)
    if (value === undefined) throw new SvcError('folder_unusable', 'the folder lost its head')
    return decodeBlock(value)
  }
  let head = stored(keys.head)
  let verified = stored(keys.verified)
  const batch = createBatch(level, () => head.size)
  let tree = createMerkleTree({ store: batch.nodes, size: head.size })

  /** Writes a batch. Afterwards memory equals the disk, even if the write failed. */
  async function commit(fill: () => Promise<void> | void): Promise<void> {
    assert(batch.isEmpty(), 'changes come one after another')
    try {
      await batch.write(fill)
    } finally {
      head = stored(keys.head)
      verified = stored(keys.verified)
      if (tree.size() !== head.size) tree = createMerkleTree({ store: batch.nodes, size: head.size })
    }
  }

  function transferAt(index: number): StoredTransfer | undefined {
    const value = index < head.size ? level.getSync(keys.transfer(index)) : undefined
    return value && decodeTransfer(index, value)
  }

  function putTransfer(transfer: ChainedTransfer): void {
    const { blockHash: _blockHash, ...rest } = transfer
    tree.append([transferLeaf(2, transfer)])
    const root = tree.rootAt(tree.size())
    batch.put(keys.transfer(transfer.index), encodeTransfer({ ...rest, root }))
    batch.put(keys.received(transfer.to, transfer.index), Buffer.alloc(0))
    batch.put(keys.root(root), encodeCount(tree.size()))
  }

  function deleteTransfer(transfer: StoredTransfer): void {
    batch.del(keys.transfer(transfer.index))
    batch.del(keys.received(transfer.to, transfer.index))
    batch.del(keys.root(transfer.root))
    batch.del(keys.block(transfer.blockNumber))
  }

  return {
    head: () => head,
    verified: () => verified,
    transferAt,
    async transfersTo(to, limit) {
      const range = { gte: keys.received(to, 0), lt: keys.received(to, 2 ** treeHeight), limit }
      const found = await level.keys(range).all()
      return found.flatMap((key) => transferAt(indexOfReceived(key)) ?? [])
    },
    rootAt: (size) => (size === 0 ? tree.rootAt(0) : (transferAt(size - 1)?.root ?? tree.rootAt(size))),
    pathAt: (leafIndex, size) => tree.pathAt(leafIndex, size),
    sizeOfRoot(root) {
      const value = level.getSync(keys.root(root))
      if (value !== undefined) return decodeCount(value)
      return root === tree.rootAt(0) ? 0 : undefined
    },
    async blocksBefore(before, count) {
      const range = { gte: keys.block(0), lt: keys.block(before), reverse: true, limit: count }
      return (await level.values(range).all()).map(decodeBlock)
    },
    append: (transfers, next, isVerified) =>
      commit(async () => {
        assert(next.size === head.size + transfers.length && next.number >= head.number, 'the head moves on')
        for (const [at, transfer] of transfers.entries()) {
          putTransfer(transfer)
          const { blockNumber: number, blockHash: hash, index, hashChain } = transfer
          batch.put(keys.block(number), encodeBlock({ number, hash, size: index + 1, hashChain }))
          if (at % limits.leavesPerSlice === limits.leavesPerSlice - 1) await new Promise(setImmediate)
        }
        batch.put(keys.head, encodeBlock(next))
        if (isVerified) batch.put(keys.verified, encodeBlock(next))
      }),
    truncate: (to) =>
      commit(() => {
        for (let index = to.size; index < head.size; index++) {
          const transfer = transferAt(index)
          if (transfer !== undefined) deleteTransfer(transfer)
        }
        tree.truncate(to.size)
        batch.put(keys.head, encodeBlock(to))
        if (verified.number > to.number) batch.put(keys.verified, encodeBlock(to))
        // From now on nobody reads the records that the batch is about to delete.
        head = to
      }),
    close: () => level.close(),
  }
}
