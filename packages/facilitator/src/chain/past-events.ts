/** Events that a contract logged, decoded, and the block from which on a period has them. */
import { type JsonRpc, type LogFilter, readBlockAt, readHead, scanLogs, wellFormed } from '@svc-zerc20/evm'
import { type Address, SvcError } from '@svc-zerc20/protocol'
import type { Abi, ContractEventArgs, ContractEventName, ParseEventLogsReturnType } from 'viem'
import { encodeEventTopics, parseEventLogs } from 'viem/utils'
import { limits } from '../config/limits.js'

/** Reads the events of one kind. */
export async function readEvents<const A extends Abi, Name extends ContractEventName<A>>(
  rpc: Pick<JsonRpc, 'batch'>,
  wanted: {
    readonly address: Address
    readonly abi: A
    readonly eventName: Name
    /** Values of indexed fields; a list stands for any of its values. */
    readonly args: ContractEventArgs<A, Name>
    readonly fromBlock: number
    /** The newest block unless told. */
    readonly toBlock?: number
  },
): Promise<ParseEventLogsReturnType<A, Name, true>> {
  const { address, abi, eventName, args, ...blocks } = wanted
  const topics = encodeEventTopics({ abi, eventName, args } as never) as LogFilter['topics']
  const span = { ...blocks, spanBlocksMax: limits.logSpanBlocksMax }
  const events: unknown[] = []
  for await (const { logs } of scanLogs(rpc, { address, topics }, span)) {
    events.push(...wellFormed('eth_getLogs', () => parseEventLogs({ abi, eventName, logs: logs as never })))
  }
  return events as ParseEventLogsReturnType<A, Name, true>
}

/** The number of the first block at or after a time, from `first` on; one above the newest block when there is none. */
export async function firstBlockAt(
  rpc: Pick<JsonRpc, 'batch'>,
  time: number,
  first: number,
): Promise<number> {
  if (time <= 0) return first
  let [low, high] = [first, Number(await readHead(rpc)) + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const block = await readBlockAt(rpc, BigInt(middle))
    if (!block) throw new SvcError('node_behind', `the node has no block ${middle}`)
    if (block.time < time) low = middle + 1
    else high = middle
  }
  return low
}
