/** Reads a contract's logs over many blocks, in as many questions as the node makes necessary. */
import type { Address } from '@svc-zerc20/protocol'
import { readHead } from './head.js'
import { type JsonRpc, resultOf } from './json-rpc.js'
import type { Log } from './transfer-log.js'

export type LogFilter = {
  readonly address: Address
  /** As in `eth_getLogs`: a place may hold one topic, several of which one must match, or null for any. */
  readonly topics: readonly (string | readonly string[] | null)[]
}

/** The logs of some blocks in a row. */
export type LogSpan = { readonly logs: readonly Log[]; readonly lastBlock: number }

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
): AsyncGenerator<LogSpan> {
  const head = toBlock ?? Number(await readHead(rpc))
  let span = spanBlocksMax
  for (let next = fromBlock; next <= head; ) {
    const lastBlock = Math.min(next + span - 1, head)
    let logs: readonly Log[]
    try {
      logs = await readLogs(rpc, filter, next, lastBlock)
    } catch (err) {
      // Nodes bound the blocks or the logs of one answer, each in its own way.
      if (span === 1) throw err
      span = Math.max(1, Math.floor(Math.min(span, lastBlock - next + 1) / shrinkBy))
      continue
    }
    yield { logs, lastBlock }
    next = lastBlock + 1
    span = Math.min(span * 2, spanBlocksMax)
  }
}

/** Quickly, so that a node that answers nothing at all is found out soon. */
const shrinkBy = 8

async function readLogs(
  rpc: Pick<JsonRpc, 'batch'>,
  filter: LogFilter,
  from: number,
  to: number,
): Promise<readonly Log[]> {
  const params = [{ ...filter, fromBlock: hex(from), toBlock: hex(to) }]
  const [answer] = await rpc.batch([{ method: 'eth_getLogs', params }])
  return resultOf('eth_getLogs', answer) as Log[]
}

const hex = (number: number): string => `0x${number.toString(16)}`
