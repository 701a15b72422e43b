/**
 * The chain's head. A node may answer any number, so a height counts only if the node also has the block at it.
 * Otherwise one absurd answer would move every search past the burns that it looks for.
 */
import { type Bytes32, parseBytes32, SvcError, type UnixSeconds } from '@svc-zerc20/protocol'
import { toHex } from 'viem/utils'
import { type JsonRpc, type RpcAnswer, type RpcCall, resultOf } from './json-rpc.js'
import { parseCount, parseQuantity } from './quantities.js'

export type BlockRef = { readonly number: bigint; readonly hash: Bytes32 }

const method = 'eth_getBlockByNumber'

/** Asks for the newest block. */
export const latestCall: RpcCall = { method, params: ['latest', false] }

export const blockCall = (number: bigint): RpcCall => ({ method, params: [toHex(number), false] })

/** The block in an answer, or undefined for `null`. Throws when number or hash is missing. */
export function readBlock(answer: RpcAnswer | undefined): BlockRef | undefined {
  const block = resultOf(method, answer) as { number?: unknown; hash?: unknown } | null | undefined
  if (block === null || block === undefined) return undefined
  const hash = parseBytes32(block.hash)
  if (hash === undefined) throw new SvcError('rpc_error', `${method}: a block without its hash`)
  const number = parseQuantity(block.number)
  if (number === undefined) throw new SvcError('rpc_error', `${method}: a block without its number`)
  return { number, hash }
}

export function readLatest(answer: RpcAnswer | undefined): BlockRef {
  const block = readBlock(answer)
  if (!block) throw new SvcError('rpc_error', `${method}: there is no head`)
  return block
}

/** Whether the node has a block at this height. */
export async function isBacked(rpc: Pick<JsonRpc, 'batch'>, number: bigint): Promise<boolean> {
  const [answer] = await rpc.batch([blockCall(number)])
  return readBlock(answer)?.number === number
}

/** Number of the newest block, in two round trips. Throws when the node does not have the block it names. */
export async function readHead(rpc: Pick<JsonRpc, 'batch'>): Promise<bigint> {
  const [answer] = await rpc.batch([latestCall])
  const { number } = readLatest(answer)
  if (!(await isBacked(rpc, number))) {
    throw new SvcError('rpc_error', `the node names block ${number} as its newest and does not have it`)
  }
  return number
}

/** The block at a height, with its time; undefined when the node has none there. */
export async function readBlockAt(
  rpc: Pick<JsonRpc, 'batch'>,
  number: bigint,
): Promise<TimedBlock | undefined> {
  const [answer] = await rpc.batch([blockCall(number)])
  return readTimedBlock(answer)
}

export type TimedBlock = BlockRef & { readonly time: UnixSeconds }

/** Undefined for no block; anything else without number, hash and time is the node's failure. */
export function readTimedBlock(answer: RpcAnswer | undefined): TimedBlock | undefined {
  const block = readBlock(answer)
  if (!block) return undefined
  const { timestamp } = resultOf(method, answer) as { timestamp?: unknown }
  const time = parseCount(timestamp)
  if (time === undefined) throw new SvcError('rpc_error', `${method}: a block without its time`)
  return { ...block, time: time as UnixSeconds }
}
