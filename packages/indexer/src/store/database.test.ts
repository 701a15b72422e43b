import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address, Bytes32, TxHash } from '@svc-zerc20/protocol'
import { createMemoryNodes, createMerkleTree, transferLeaf } from '@svc-zerc20/zk'
import Sqlite from 'libsql'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type ChainedTransfer, type Database, openDatabase, type SyncedBlock } from './database.js'

let folder: string
let database: Database

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-indexer-'))
  database = await open()
})

afterEach(async () => {
  vi.restoreAllMocks()
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

const hash = (number: number, branch = 0) =>
  `0x${(number * 100 + branch).toString(16).padStart(64, '0')}` as Bytes32
const address = (number: number) => `0x${number.toString(16).padStart(40, '0')}` as Address

function open(token = address(1)): Promise<Database> {
  return openDatabase({
    folder,
    binding: { chainId: 31_337, token, fromBlock: 1 },
    start: async () => ({ number: 0, hash: hash(0), size: 0, hashChain: 0n }),
  })
}

/** One transfer in each block from `first` on. */
const blocks = (first: number, count: number, branch = 0): ChainedTransfer[] =>
  Array.from({ length: count }, (_, at) => ({
    index: first + at,
    from: address(7),
    to: address(100 + ((first + at) % 3)),
    value: BigInt(1 + first + at + 1000 * branch),
    blockNumber: first + at + 1,
    blockHash: hash(first + at + 1, branch),
    transactionHash: hash(first + at + 1, branch) as string as TxHash,
    logIndex: 0,
    hashChain: BigInt(first + at + 1 + 1000 * branch),
  }))

const after = (size: number, branch = 0): SyncedBlock => ({
  number: size,
  hash: hash(size, branch),
  size,
  hashChain: BigInt(size + 1000 * branch),
})

function rootsOf(transfers: readonly ChainedTransfer[]): bigint[] {
  const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })
  tree.append(transfers.map((transfer) => transferLeaf(2, transfer)))
  return transfers.map((_, at) => tree.rootAt(at + 1))
}

function expectHolds(transfers: readonly ChainedTransfer[]): void {
  const roots = rootsOf(transfers)
  expect(database.head().size).toBe(transfers.length)
  expect(transfers.map((_, at) => database.rootAt(at + 1))).toEqual(roots)
  expect(roots.map((root) => database.sizeOfRoot(root))).toEqual(transfers.map((_, at) => at + 1))
  expect(transfers.map((_, at) => database.transferAt(at)?.value)).toEqual(
    transfers.map(({ value }) => value),
  )
  expect(database.transferAt(transfers.length)).toBeUndefined()
  for (const [at, root] of roots.entries()) expect(database.pathAt(0, at + 1).root).toBe(root)
}

test('holds after opening again what it held before', async () => {
  await database.append(blocks(0, 5), after(5), true)
  await database.append([], { ...after(5), number: 9, hash: hash(9) }, false)
  await database.close()
  database = await open()
  expectHolds(blocks(0, 5))
  expect(database.head()).toEqual({ ...after(5), number: 9, hash: hash(9) })
  expect(database.verified()).toEqual(after(5))
})

test('goes back to an earlier block and on in another way', async () => {
  await database.append(blocks(0, 9), after(9), true)
  await database.truncate(after(4))
  expectHolds(blocks(0, 4))
  expect(database.verified()).toEqual(after(4))
  const lost = rootsOf(blocks(0, 9))[8] ?? 0n
  expect(database.sizeOfRoot(lost)).toBeUndefined()
  const branch = blocks(4, 7, 1)
  await database.append(branch, after(11, 1), false)
  expectHolds([...blocks(0, 4), ...branch])
  const numbers = database.blocksBefore(99, 99).map(({ number, hash: of }) => [number, of === hash(number)])
  expect(numbers[0]).toEqual([11, false])
  expect(numbers.at(-1)).toEqual([0, true])
})

test('finds transfers by their recipient, oldest first', async () => {
  await database.append(blocks(0, 10), after(10), true)
  const found = database.transfersTo(address(101), 3)
  expect(found.map(({ index }) => index)).toEqual([1, 4, 7])
  expect(database.transfersTo(address(5), 3)).toEqual([])
})

test('a batch that the disk refuses leaves memory and disk as they were', async () => {
  await database.append(blocks(0, 3), after(3), true)
  const { exec } = Sqlite.prototype
  const refuse = () =>
    vi.spyOn(Sqlite.prototype, 'exec').mockImplementation(function (this: Sqlite.Database, text: string) {
      if (text !== 'COMMIT') return exec.call(this, text)
      vi.restoreAllMocks()
      // As SQLite does by itself when the disk is full.
      exec.call(this, 'ROLLBACK')
      throw new Error('disk full')
    })
  refuse()
  await expect(database.append(blocks(3, 4), after(7), true)).rejects.toThrow('disk full')
  expectHolds(blocks(0, 3))
  refuse()
  await expect(database.truncate(after(1))).rejects.toThrow('disk full')
  expectHolds(blocks(0, 3))
  await database.append(blocks(3, 4), after(7), true)
  expectHolds(blocks(0, 7))
})

test('what is read while a batch is on its way is the state before it', async () => {
  await database.append(blocks(0, 20), after(20), true)
  const roots = rootsOf(blocks(0, 20))
  const writing = database.append(blocks(20, 40), after(60), true)
  await new Promise(setImmediate)
  expect(database.head().size).toBe(20)
  expect(database.pathAt(3, 20).root).toBe(roots[19])
  await writing
  expectHolds(blocks(0, 60))
})

test('belongs to one token and one process', async () => {
  await expect(open()).rejects.toMatchObject({ code: 'folder_locked' })
  await database.close()
  await expect(open(address(2))).rejects.toMatchObject({ code: 'folder_of_another_token' })
  database = await open()
})
