/** Reads a contract's logs over many blocks, in as many questions as the node makes necessary. */
import type { Address } from '@svc-zerc20/protocol'
import { readHead } from './blocks.js'
import { type JsonRpc, resultOf } from './json-rpc.js'
import type { ChainLog } from './receipts.js'

export type LogFilter = {
  readonly address: Address
  /** As in `eth_getLogs`: a place may hold one topic, several of which one must match, or null for any. */
  readonly topics: readonly (string | readonly string[] | null)[]
}

/** The logs of some blocks in a row. */
export type ScannedLogs = { readonly logs: readonly ChainLog[]; readonly lastBlock: number }

/**
 * From `fromBlock` to `toBlock`, or to the head as it was at the start, in order. Throws when the node refuses a single
 * block.
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

/** How many blocks one question covers. Nodes bound the blocks or the logs of one answer, each in its own way. */
export type LogSpan = {
  /** The last block of a question that begins at `from` and must not go beyond `end`. */
  lastBlock(from: number, end: number): number
  /** The node failed to answer about this many blocks. False when no smaller question is left. */
  refused(blocks: number): boolean
  answered(): void
}

/** Quickly, so that a node that answers nothing at all is found out soon. */
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

/** The logs of the blocks `from` to `to`, in one question. */
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
