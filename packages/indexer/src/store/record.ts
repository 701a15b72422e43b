/** Keys and values of the database: big-endian, so that the order of keys is the order of numbers. */
import type { Address, Bytes32, TxHash } from '@svc-zerc20/protocol'
import type { ReportedTransfer } from '../chain/transfer.js'

/** A transfer with the values that the indexer computed after it. */
export type StoredTransfer = Omit<ReportedTransfer, 'blockHash'> & {
  /** The token's hash chain after this transfer. */
  readonly hashChain: bigint
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

const word = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
const count = (value: number): Buffer => word(BigInt(value)).subarray(24)
const bytes = (hex: `0x${string}`): Buffer => Buffer.from(hex.slice(2), 'hex')
const hex = (from: Buffer): `0x${string}` => `0x${from.toString('hex')}`
const toWord = (from: Buffer): bigint => BigInt(hex(from))
const toCount = (from: Buffer): number => Number(from.readBigUInt64BE())

const key = (prefix: string, ...parts: Buffer[]): Buffer => Buffer.concat([Buffer.from(prefix), ...parts])

/** One letter for each kind of record. */
export const keys = {
  binding: key('a'),
  head: key('h'),
  verified: key('v'),
  block: (number: number) => key('b', count(number)),
  transfer: (index: number) => key('e', count(index)),
  node: (level: number, index: number) => key('n', Buffer.of(level), count(index)),
  root: (root: bigint) => key('r', word(root)),
  received: (to: Address, index: number) => key('t', bytes(to), count(index)),
} as const

/** The leaf index at the end of a `received` key. */
export const indexOfReceived = (of: Buffer): number => toCount(of.subarray(21))

export const encodeWord = word
export const decodeWord = toWord
export const encodeCount = count
export const decodeCount = toCount

export const encodeBlock = ({ number, hash, size, hashChain }: SyncedBlock): Buffer =>
  Buffer.concat([count(number), bytes(hash), count(size), word(hashChain)])

export const decodeBlock = (from: Buffer): SyncedBlock => ({
  number: toCount(from),
  hash: hex(from.subarray(8, 40)) as Bytes32,
  size: toCount(from.subarray(40)),
  hashChain: toWord(from.subarray(48, 80)),
})

export const encodeTransfer = (of: StoredTransfer): Buffer =>
  Buffer.concat([
    bytes(of.from),
    bytes(of.to),
    word(of.value),
    word(of.hashChain),
    word(of.root),
    bytes(of.transactionHash),
    count(of.blockNumber),
    count(of.logIndex),
  ])

export const decodeTransfer = (index: number, from: Buffer): StoredTransfer => ({
  index,
  from: hex(from.subarray(0, 20)) as Address,
  to: hex(from.subarray(20, 40)) as Address,
  value: toWord(from.subarray(40, 72)),
  hashChain: toWord(from.subarray(72, 104)),
  root: toWord(from.subarray(104, 136)),
  transactionHash: hex(from.subarray(136, 168)) as TxHash,
  blockNumber: toCount(from.subarray(168)),
  logIndex: toCount(from.subarray(176)),
})
