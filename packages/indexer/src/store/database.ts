/**
 * The folder: transfers, tree, roots and blocks in LevelDB. Every change is one atomic batch that is on the disk
 * before the next begins, so that a process killed at any time finds the last whole state. The folder belongs to
 * one token on one chain, and to one process at a time (LevelDB holds a lock on it).
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { createMerkleTree, type MerklePath, type NodeStore, transferLeaf, treeHeight } from '@svc-zerc20/zk'
import { ClassicLevel } from 'classic-level'
import type { ReportedTransfer } from '../chain/transfer.js'
import { limits } from '../limits.js'
import {
  decodeBlock,
  decodeCount,
  decodeTransfer,
  decodeWord,
  encodeBlock,
  encodeCount,
  encodeTransfer,
  encodeWord,
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

/** What a folder belongs to; another one of these is refused. */
export type Binding = { readonly chainId: number; readonly token: Address; readonly fromBlock: number }

type Put = { type: 'put'; key: Buffer; value: Buffer }
type Operation = Put | { type: 'del'; key: Buffer }
type Level = ClassicLevel<Buffer, Buffer>

/**
 * Opens or creates a folder. `start` tells the block before the token's first and is asked only for a new folder.
 * Throws `SvcError('folder_locked')`, `SvcError('folder_of_another_token')` or `SvcError('folder_unusable')`.
 */
export async function openDatabase(deps: {
  folder: string
  binding: Binding
  start: () => Promise<SyncedBlock>
}): Promise<Database> {
  const level = await openLevel(deps.folder)
  try {
    await bind(level, deps.binding, deps.start)
    return createDatabase(level)
  } catch (error) {
    await level.close()
    throw error
  }
}

async function openLevel(folder: string): Promise<Level> {
  let level: Level
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    level = new ClassicLevel<Buffer, Buffer>(folder, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    await level.open()
  } catch (error) {
    const cause = (error as Error).cause as { code?: string; message?: string } | undefined
    if (cause?.code === 'LEVEL_LOCKED') {
      throw new SvcError('folder_locked', `${folder}: another process has this folder open`, { cause: error })
    }
    const why = cause?.message ?? (error as Error).message
    throw new SvcError('folder_unusable', `${folder}: ${why}`, { cause: error })
  }
  return level
}

const format = 1

async function bind(level: Level, binding: Binding, start: () => Promise<SyncedBlock>): Promise<void> {
  const text = JSON.stringify({ format, ...binding })
  const found = level.getSync(keys.binding)
  if (found === undefined) {
    const first = encodeBlock(await start())
    const puts: [Buffer, Buffer][] = [
      [keys.binding, Buffer.from(text)],
      [keys.head, first],
      [keys.verified, first],
      [keys.block(decodeBlock(first).number), first],
    ]
    await level.batch(
      puts.map(([key, value]) => ({ type: 'put', key, value })),
      { sync: true },
    )
  } else if (found.toString('utf8') !== text) {
    throw new SvcError('folder_of_another_token', `the folder belongs to ${found}, not to ${text}`)
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
  let operations: Operation[] = []
  /** Nodes of the batch in the making: the tree needs them before they are stored. */
  const fresh = new Map<string, bigint>()

  const put = (key: Buffer, value: Buffer) => operations.push({ type: 'put', key, value })
  const del = (key: Buffer) => operations.push({ type: 'del', key })

  const store: NodeStore = {
    get(height, index) {
      const value = fresh.get(`${height}/${index}`)
      if (value !== undefined) return value
      const found = level.getSync(keys.node(height, index))
      return found && decodeWord(found)
    },
    put(height, index, hash) {
      fresh.set(`${height}/${index}`, hash)
      put(keys.node(height, index), encodeWord(hash))
    },
    truncate(size) {
      for (let height = 0; height <= treeHeight; height++) {
        const end = Math.floor(head.size / 2 ** height)
        for (let index = Math.floor(size / 2 ** height); index < end; index++) del(keys.node(height, index))
      }
    },
  }
  let tree = createMerkleTree({ store, size: head.size })

  /** Runs `fill`, then writes what it put. Whatever fails, memory is as the disk is. */
  async function commit(fill: () => Promise<void> | void): Promise<void> {
    assert(operations.length === 0, 'changes come one after another')
    try {
      await fill()
      await level.batch(operations, { sync: true })
    } finally {
      operations = []
      fresh.clear()
      head = stored(keys.head)
      verified = stored(keys.verified)
      if (tree.size() !== head.size) tree = createMerkleTree({ store, size: head.size })
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
    put(keys.transfer(transfer.index), encodeTransfer({ ...rest, root }))
    put(keys.received(transfer.to, transfer.index), Buffer.alloc(0))
    put(keys.root(root), encodeCount(tree.size()))
  }

  function deleteTransfer(transfer: StoredTransfer): void {
    del(keys.transfer(transfer.index))
    del(keys.received(transfer.to, transfer.index))
    del(keys.root(transfer.root))
    del(keys.block(transfer.blockNumber))
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
          put(keys.block(number), encodeBlock({ number, hash, size: index + 1, hashChain }))
          if (at % limits.leavesPerSlice === limits.leavesPerSlice - 1) await new Promise(setImmediate)
        }
        put(keys.head, encodeBlock(next))
        if (isVerified) put(keys.verified, encodeBlock(next))
      }),
    truncate: (to) =>
      commit(() => {
        for (let index = to.size; index < head.size; index++) {
          const transfer = transferAt(index)
          if (transfer !== undefined) deleteTransfer(transfer)
        }
        tree.truncate(to.size)
        put(keys.head, encodeBlock(to))
        if (verified.number > to.number) put(keys.verified, encodeBlock(to))
        // Nobody reads from now on what the batch is about to take away.
        head = to
      }),
    close: () => level.close(),
  }
}
