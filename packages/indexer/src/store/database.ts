/**
 * Transfers, tree, roots and blocks of a token. Every change is one transaction that is on the disk before the next
 * begins, so that a process killed at any time finds the last whole state.
 */
import assert from 'node:assert/strict'
import { type Address, type Bytes32, SvcError, type TxHash } from '@svc-zerc20/protocol'
import { createMerkleTree, type MerklePath, type NodeStore, transferLeaf, treeHeight } from '@svc-zerc20/zk'
import type { ReportedTransfer } from '../chain/transfer.js'
import { limits } from '../limits.js'
import { closeTables, inTransaction, openTables, type Tables } from './tables.js'

/** The chain, token and first block that a folder belongs to. Any others are refused. */
export type Binding = { readonly chainId: number; readonly token: Address; readonly fromBlock: number }

/** A transfer with the hash chain that the sync computed and compared. */
export type ChainedTransfer = ReportedTransfer & { readonly hashChain: bigint }

/** A transfer with the values that the indexer computed after it. */
export type StoredTransfer = Omit<ChainedTransfer, 'blockHash'> & {
  /** The tree's root after this transfer. */
  readonly root: bigint
}

/** A block, and the token's state after it. */
export type SyncedBlock = {
  readonly number: number
  readonly hash: Bytes32
  /** Leaves up to and including this block. */
  readonly size: number
  readonly hashChain: bigint
}

export type Database = {
  /** The last block whose transfers are on the disk. */
  head(): SyncedBlock
  /** The last block in which the token itself confirmed what is stored. */
  verified(): SyncedBlock
  transferAt(index: number): StoredTransfer | undefined
  /** Transfers to an address, oldest first. */
  transfersTo(to: Address, limit: number): readonly StoredTransfer[]
  /** The tree at a past size, from zero up to the head's. */
  rootAt(size: number): bigint
  pathAt(leafIndex: number, size: number): MerklePath
  /** The size at which the tree had this root. */
  sizeOfRoot(root: bigint): number | undefined
  /** Blocks with transfers, newest first, then the block before the first; at most `count` below `before`. */
  blocksBefore(before: number, count: number): readonly SyncedBlock[]
  /** Puts whole blocks of transfers behind the head and moves it to `head`. All or nothing. */
  append(transfers: readonly ChainedTransfer[], head: SyncedBlock, isVerified: boolean): Promise<void>
  /** Goes back to an earlier block. All or nothing. */
  truncate(to: SyncedBlock): Promise<void>
  close(): Promise<void>
}

/**
 * Opens or creates a folder. `start` returns the block before the token's first, and is called only for a new
 * folder. Throws `SvcError('folder_of_another_token')`, and what `openTables` throws.
 */
export async function openDatabase(deps: {
  folder: string
  binding: Binding
  start: () => Promise<SyncedBlock>
}): Promise<Database> {
  const tables = openTables(deps.folder)
  try {
    await bind(tables, deps.binding, deps.start)
    return createDatabase(tables)
  } catch (error) {
    closeTables(tables)
    throw error
  }
}

const format = 1

async function bind(tables: Tables, binding: Binding, start: () => Promise<SyncedBlock>): Promise<void> {
  const text = JSON.stringify({ format, ...binding })
  const found = tables.prepare('SELECT text FROM binding').get() as { text: string } | undefined
  if (found !== undefined && found.text !== text) {
    throw new SvcError('folder_of_another_token', `the folder belongs to ${found.text}, not to ${text}`)
  }
  if (found !== undefined) return
  const { putBlock, putPlace } = statementsOf(tables)
  const first = blockColumns(await start())
  inTransaction(tables, () => {
    tables.prepare('INSERT INTO binding VALUES (1, ?)').run(text)
    putBlock.run(...first)
    putPlace.run('head', ...first)
    putPlace.run('verified', ...first)
  })
}

const statementsOf = (tables: Tables) => ({
  place: tables.prepare('SELECT * FROM place WHERE name = ?'),
  putPlace: tables.prepare('INSERT OR REPLACE INTO place VALUES (?, ?, ?, ?, ?)'),
  blocksBelow: tables.prepare('SELECT * FROM block WHERE number < ? ORDER BY number DESC LIMIT ?'),
  putBlock: tables.prepare('INSERT OR REPLACE INTO block VALUES (?, ?, ?, ?)'),
  cutBlocks: tables.prepare('DELETE FROM block WHERE number > ?'),
  transfer: tables.prepare('SELECT * FROM transfer WHERE leaf = ?'),
  transfersTo: tables.prepare('SELECT * FROM transfer WHERE receiver = ? ORDER BY leaf LIMIT ?'),
  leafOfRoot: tables.prepare('SELECT leaf FROM transfer WHERE root = ?'),
  putTransfer: tables.prepare('INSERT INTO transfer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
  cutTransfers: tables.prepare('DELETE FROM transfer WHERE leaf >= ?'),
  node: tables.prepare('SELECT hash FROM node WHERE level = ? AND position = ?'),
  putNode: tables.prepare('INSERT INTO node VALUES (?, ?, ?)'),
  cutNodes: tables.prepare('DELETE FROM node WHERE level = ? AND position >= ?'),
})

function createDatabase(tables: Tables): Database {
  const statements = statementsOf(tables)
  const stored = (name: 'head' | 'verified') => blockIn(statements.place.get(name))
  let head = stored('head')
  let verified = stored('verified')
  /** Nodes and rows of a change that is being gathered. The tree needs its nodes before they are stored. */
  const fresh = new Map<string, bigint>()
  let changes: (() => unknown)[] = []
  const nodes: NodeStore = {
    get(level, position) {
      const known = fresh.get(`${level}/${position}`)
      if (known !== undefined) return known
      const row = statements.node.get(level, position) as { hash: Buffer } | undefined
      return row && wordIn(row.hash)
    },
    put(level, position, hash) {
      fresh.set(`${level}/${position}`, hash)
      changes.push(() => statements.putNode.run(level, position, word(hash)))
    },
    truncate(size) {
      for (let level = 0; level <= treeHeight; level++) {
        const position = Math.floor(size / 2 ** level)
        changes.push(() => statements.cutNodes.run(level, position))
      }
    },
  }
  let tree = createMerkleTree({ store: nodes, size: head.size })

  /** Gathers changes and writes them. Afterwards memory equals the disk, even if the write failed. */
  async function commit(gather: () => Promise<void> | void): Promise<void> {
    assert(changes.length === 0, 'changes come one after another')
    try {
      await gather()
      inTransaction(tables, () => {
        for (const change of changes) change()
      })
    } finally {
      changes = []
      fresh.clear()
      head = stored('head')
      verified = stored('verified')
      if (tree.size() !== head.size) tree = createMerkleTree({ store: nodes, size: head.size })
    }
  }

  function transferAt(index: number): StoredTransfer | undefined {
    const row = index < head.size ? statements.transfer.get(index) : undefined
    return row === undefined ? undefined : transferIn(row)
  }

  function putTransfer(of: ChainedTransfer): void {
    tree.append([transferLeaf(2, of)])
    const root = tree.rootAt(tree.size())
    const block = { number: of.blockNumber, hash: of.blockHash, size: of.index + 1, hashChain: of.hashChain }
    changes.push(() => {
      statements.putTransfer.run(...transferColumns(of, root))
      statements.putBlock.run(...blockColumns(block))
    })
  }

  return {
    head: () => head,
    verified: () => verified,
    transferAt,
    transfersTo: (to, limit) => statements.transfersTo.all([bytes(to), limit]).map(transferIn),
    rootAt: (size) => (size === 0 ? tree.rootAt(0) : (transferAt(size - 1)?.root ?? tree.rootAt(size))),
    pathAt: (leafIndex, size) => tree.pathAt(leafIndex, size),
    sizeOfRoot(root) {
      const row = statements.leafOfRoot.get([word(root)]) as { leaf: number } | undefined
      if (row !== undefined) return row.leaf + 1
      return root === tree.rootAt(0) ? 0 : undefined
    },
    blocksBefore: (before, count) => statements.blocksBelow.all(before, count).map(blockIn),
    append: (transfers, next, isVerified) =>
      commit(async () => {
        assert(next.size === head.size + transfers.length && next.number >= head.number, 'the head moves on')
        for (const [at, transfer] of transfers.entries()) {
          putTransfer(transfer)
          if (at % limits.leavesPerSlice === limits.leavesPerSlice - 1) await new Promise(setImmediate)
        }
        changes.push(() => statements.putPlace.run('head', ...blockColumns(next)))
        if (isVerified) changes.push(() => statements.putPlace.run('verified', ...blockColumns(next)))
      }),
    truncate: (to) =>
      commit(() => {
        tree.truncate(to.size)
        changes.push(() => {
          statements.cutTransfers.run(to.size)
          statements.cutBlocks.run(to.number)
          statements.putPlace.run('head', ...blockColumns(to))
          if (verified.number > to.number) statements.putPlace.run('verified', ...blockColumns(to))
        })
      }),
    close: async () => closeTables(tables),
  }
}

const word = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
const bytes = (hex: `0x${string}`): Buffer => Buffer.from(hex.slice(2), 'hex')
// Of one row the library gives bytes as a Buffer, of several as ArrayBuffers.
const hexIn = (from: Buffer | ArrayBuffer): `0x${string}` =>
  `0x${Buffer.from(from as Buffer).toString('hex')}`
const wordIn = (from: Buffer | ArrayBuffer): bigint => BigInt(hexIn(from))

const blockColumns = ({ number, hash, size, hashChain }: SyncedBlock) =>
  [number, bytes(hash), size, word(hashChain)] as const

const transferColumns = (of: ChainedTransfer, root: bigint) => [
  of.index,
  bytes(of.from),
  bytes(of.to),
  word(of.value),
  word(of.hashChain),
  word(root),
  bytes(of.transactionHash),
  of.blockNumber,
  of.logIndex,
]

// biome-ignore lint/suspicious/noExplicitAny: the tables say which column has which type.
type Row = any

function blockIn(row: Row): SyncedBlock {
  if (row === undefined) throw new SvcError('folder_unusable', 'the folder lost its head')
  const { number, hash, size, hash_chain } = row
  return { number, hash: hexIn(hash) as Bytes32, size, hashChain: wordIn(hash_chain) }
}

const transferIn = (row: Row): StoredTransfer => ({
  index: row.leaf,
  from: hexIn(row.sender) as Address,
  to: hexIn(row.receiver) as Address,
  value: wordIn(row.value),
  hashChain: wordIn(row.hash_chain),
  root: wordIn(row.root),
  transactionHash: hexIn(row.tx_hash) as TxHash,
  blockNumber: row.block,
  logIndex: row.log_index,
})
