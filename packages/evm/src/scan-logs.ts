/** Reads a contract's logs over many blocks, with as many requests as the node's limits make necessary. */
import type { Address } from '@svc-zerc20/protocol'
import { readHead } from './blocks.js'
import { type JsonRpc, resultOf } from './json-rpc.js'
import type { ChainLog } from './receipts.js'

export type LogFilter = {
  readonly address: Address
  /** As in `eth_getLogs`: each position holds one topic, a list of alternatives, or null for any. */
  readonly topics: readonly (string | readonly string[] | null)[]
}

/** The logs of consecutive blocks. */
export type ScannedLogs = { readonly logs: readonly ChainLog[]; readonly lastBlock: number }

/**
 * Yields the logs from `fromBlock` to `toBlock`, or to the head at the start, in order. Throws when the node refuses
 * even a single block.
 */
export async function* scanLogs(
  rpc: Pick<JsonRpc, 'batch'>,
  filter: LogFilter,
  {
    fromBlock,
    toBlock,
    spanBlocksMax,
  }: {
    readonly fromBlock: number
    readonly toBlock?: number
    readonly spanBlocksMax: number
  },
): AsyncGenerator<ScannedLogs> {
  const head = toBlock ?? Number(await readHead(rpc))
  const span = createLogSpan({ blocksMax: spanBlocksMax, shrinkBy })
  for (let next = fromBlock; next <= head; ) {
    const lastBlock = span.lastBlock(next, head)
    let logs: readonly ChainLog[]
    try {
      logs = await readLogs(rpc, filter, next, lastBlock)
    } catch (err) {
      if (!span.refused(lastBlock - next + 1)) throw err
      continue
    }
    yield { logs, lastBlock }
    next = lastBlock + 1
    span.answered()
  }
}

/** How many blocks one request covers. Each node has its own limit on the blocks or the logs of one answer. */
export type LogSpan = {
  /** The last block of a request that begins at `from` and ends at `end` at the latest. */
  lastBlock(from: number, end: number): number
  /** Shrinks the span after the node refused this many blocks. False when no smaller request is possible. */
  refused(blocks: number): boolean
  answered(): void
}

/** Large, so that a node that refuses everything is recognized after a few requests. */
const shrinkBy = 8

export function createLogSpan({
  blocksMax,
  shrinkBy,
}: {
  readonly blocksMax: number
  /** A refusal divides the span by this. */
  readonly shrinkBy: number
}): LogSpan {
  let span = blocksMax
  return {
    lastBlock: (from, end) => Math.min(from + span - 1, end),
    refused(blocks) {
      if (span === 1) return false
      span = Math.max(1, Math.floor(Math.min(span, blocks) / shrinkBy))
      return true
    },
    answered() {
      span = Math.min(span * 2, blocksMax)
    },
  }
}

/** The logs of the blocks `from` to `to`, in one request. */
export async function readLogs(
  rpc: Pick<JsonRpc, 'batch'>,
  filter: LogFilter,
  from: number,
  to: number,
): Promise<readonly ChainLog[]> {
  const params = [{ ...filter, fromBlock: hex(from), toBlock: hex(to) }]
  const [answer] = await rpc.batch([{ method: 'eth_getLogs', params }])
  return resultOf('eth_getLogs', answer) as ChainLog[]
}

const hex = (number: number): string => `0x${number.toString(16)}`
