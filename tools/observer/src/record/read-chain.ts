/** A recorded history: the public record of one token, read from a node. */
import { verifierAbi } from '@svc-zerc20/contracts'
import {
  type ChainLog,
  callAll,
  indexedTransferTopic,
  type JsonRpc,
  type PlacedTransfer,
  parseQuantity,
  placedTransfersIn,
  scanLogs,
  wellFormed,
} from '@svc-zerc20/evm'
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { encodeEventTopics, parseEventLogs, toHex } from 'viem/utils'
import type { ChainView, Mint } from '../chain-view.js'

export type ChainSource = {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly token: Address
  readonly verifier: Address
  readonly fromBlock: number
}

const limits = { logSpanBlocksMax: 10_000, logsMax: 100_000, callsPerBatch: 100 }

const topicsOf = (
  ...names: ('Teleport' | 'TeleportWithRelayerFee' | 'BatchCounted' | 'TransferRootProved')[]
) => names.flatMap((eventName) => encodeEventTopics({ abi: verifierAbi, eventName }) as string[])

export async function readChain(source: ChainSource): Promise<ChainView> {
  const { token, verifier } = source
  const transfers = placedTransfersIn(await logsOf(source, token, [indexedTransferTopic]), token)
  const topics = topicsOf('Teleport', 'TeleportWithRelayerFee', 'BatchCounted', 'TransferRootProved')
  const events = readEvents(await logsOf(source, verifier, topics))
  const blocks = new Set([...transfers, ...events.roots].map(({ blockNumber }) => blockNumber))
  const times = await readTimes(source.rpc, [...blocks])
  const senders = await readSenders(source.rpc, [...new Set(transfers.map(({ txHash }) => txHash))])
  const placed = transfers.map(({ leafIndex, from, to, value, txHash, blockNumber }) => ({
    leaf: Number(leafIndex),
    from: from.toLowerCase(),
    to: to.toLowerCase(),
    value: value as bigint,
    time: times.get(blockNumber) ?? 0,
    sender: senders.get(txHash) ?? '',
    txHash,
  }))
  const inTransaction = new Map<string, typeof placed>()
  for (const transfer of placed) {
    inTransaction.set(transfer.txHash, [...(inTransaction.get(transfer.txHash) ?? []), transfer])
  }
  return {
    transfers: placed.map(({ txHash, ...transfer }) => transfer),
    mints: events.mints.flatMap((mint) => placeMint(mint, inTransaction.get(mint.txHash) ?? [])),
    roots: events.roots.map(({ size, blockNumber }) => ({ size, time: times.get(blockNumber) ?? 0 })),
  }
}

async function logsOf(source: ChainSource, address: Address, topics: string[]): Promise<ChainLog[]> {
  const { rpc, fromBlock } = source
  const logs: ChainLog[] = []
  const span = { fromBlock, spanBlocksMax: limits.logSpanBlocksMax }
  for await (const scanned of scanLogs(rpc, { address, topics: [topics] }, span)) {
    logs.push(...scanned.logs)
    if (logs.length > limits.logsMax) {
      throw new SvcError('bad_option', `more than ${limits.logsMax} events: begin later with --from-block`)
    }
  }
  return logs
}

type MintEvent = Pick<Mint, 'to' | 'value' | 'rootSize' | 'range'> & { readonly txHash: string }
type RootEvent = { readonly size: number; readonly blockNumber: bigint }

/** In a batch mint `BatchCounted` stands before its `Teleport`, in the same transaction. */
function readEvents(logs: readonly ChainLog[]): { mints: MintEvent[]; roots: RootEvent[] } {
  const mints: MintEvent[] = []
  const roots: RootEvent[] = []
  let counted: { readonly txHash: string; readonly start: number; readonly end: number } | undefined
  const parsed = wellFormed('eth_getLogs', () =>
    logs.flatMap((log) => {
      const [event] = parseEventLogs({ abi: verifierAbi, logs: [log] as never })
      return event === undefined ? [] : [{ event, log }]
    }),
  )
  for (const { event, log } of parsed) {
    const txHash = String(log.transactionHash).toLowerCase()
    if (event.eventName === 'TransferRootProved') {
      roots.push({ size: Number(event.args.index), blockNumber: parseQuantity(log.blockNumber) ?? 0n })
    } else if (event.eventName === 'BatchCounted') {
      counted = { txHash, start: Number(event.args.start), end: Number(event.args.end) }
    } else if (event.eventName === 'Teleport' || event.eventName === 'TeleportWithRelayerFee') {
      const range = counted?.txHash === txHash ? { start: counted.start, end: counted.end } : undefined
      counted = undefined
      const value = 'value' in event.args ? event.args.value : event.args.recipientValue
      const { to, rootHint } = event.args
      mints.push({ to: to.toLowerCase(), value, rootSize: Number(rootHint), txHash, ...(range && { range }) })
    }
  }
  return { mints, roots }
}

/** The mint's own transfer is in its transaction: from nobody, to the recipient. */
function placeMint(
  { txHash, ...mint }: MintEvent,
  transfers: (ChainView['transfers'][number] & { readonly txHash: string })[],
): Mint[] {
  const own = transfers.findIndex(({ to, value }) => to === mint.to && value === mint.value)
  const [transfer] = own < 0 ? [] : transfers.splice(own, 1)
  return transfer === undefined
    ? []
    : [{ ...mint, leaf: transfer.leaf, time: transfer.time, sender: transfer.sender }]
}

async function inBatches<T>(
  rpc: Pick<JsonRpc, 'batch'>,
  method: string,
  items: readonly T[],
  paramsOf: (item: T) => readonly unknown[],
): Promise<readonly unknown[]> {
  const results: unknown[] = []
  for (let first = 0; first < items.length; first += limits.callsPerBatch) {
    const calls = items
      .slice(first, first + limits.callsPerBatch)
      .map((item) => ({ method, params: paramsOf(item) }))
    results.push(...(await callAll(rpc, calls)))
  }
  return results
}

async function readTimes(rpc: Pick<JsonRpc, 'batch'>, blocks: readonly bigint[]) {
  const answers = await inBatches(rpc, 'eth_getBlockByNumber', blocks, (number) => [toHex(number), false])
  return new Map(
    blocks.map((number, i) => {
      const time = parseQuantity((answers[i] as { timestamp?: unknown } | null)?.timestamp)
      if (time === undefined) throw new SvcError('rpc_error', `the node has no block ${number} any more`)
      return [number, Number(time)]
    }),
  )
}

async function readSenders(rpc: Pick<JsonRpc, 'batch'>, hashes: readonly PlacedTransfer['txHash'][]) {
  const answers = await inBatches(rpc, 'eth_getTransactionByHash', hashes, (hash) => [hash])
  return new Map<string, string>(
    hashes.map((hash, i) => {
      const from = (answers[i] as { from?: unknown } | null)?.from
      if (typeof from !== 'string')
        throw new SvcError('rpc_error', `the node has no transaction ${hash} any more`)
      return [hash, from.toLowerCase()]
    }),
  )
}
