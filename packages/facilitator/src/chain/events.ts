/** Reads the events of one kind that a contract logged, decoded. */
import { type JsonRpc, type LogFilter, scanLogs, wellFormed } from '@svc-zerc20/evm'
import type { Address } from '@svc-zerc20/protocol'
import type { Abi, ContractEventArgs, ContractEventName, ParseEventLogsReturnType } from 'viem'
import { encodeEventTopics, parseEventLogs } from 'viem/utils'
import { limits } from '../config/limits.js'

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
