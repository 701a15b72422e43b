/** Receipts and chain logs as a node reports them. */
import {
  type Address,
  parseAddress,
  parseBytes32,
  parseTxHash,
  SvcError,
  type TxHash,
} from '@svc-zerc20/protocol'
import { parseCount, parseQuantity } from './quantities.js'

/** A log of a contract, as the node sent it. Fields are checked when the log is decoded. */
export type ChainLog = {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly transactionHash?: string
  readonly blockNumber?: string
  readonly blockHash?: string
  readonly logIndex?: string
  readonly removed?: boolean
}

export type Receipt = {
  readonly transactionHash: TxHash
  readonly succeeded: boolean
  readonly blockNumber: bigint
  readonly blockHash: string
  readonly logs: readonly ChainLog[]
  /** Absent when the node does not report it. */
  readonly cost?: { readonly gas: bigint; readonly wei: bigint }
}

/** A node's receipt in our terms, or undefined for `null`. Throws `SvcError('rpc_error')` for anything else. */
export function parseReceipt(raw: unknown): Receipt | undefined {
  if (raw === null || raw === undefined) return undefined
  const receipt = raw as Record<string, unknown>
  const transactionHash = parseTxHash(receipt.transactionHash)
  const blockHash = parseBytes32(receipt.blockHash)
  if (transactionHash === undefined || blockHash === undefined || !Array.isArray(receipt.logs)) {
    throw new SvcError('rpc_error', 'the RPC answered with a malformed receipt')
  }
  return {
    transactionHash,
    succeeded: receipt.status === '0x1',
    blockNumber: readHeight(receipt.blockNumber),
    blockHash,
    logs: receipt.logs as ChainLog[],
    ...costOf(receipt),
  }
}

function costOf({ gasUsed, effectiveGasPrice }: Record<string, unknown>): Pick<Receipt, 'cost'> {
  const gas = parseQuantity(gasUsed)
  const price = parseQuantity(effectiveGasPrice)
  return gas === undefined || price === undefined ? {} : { cost: { gas, wei: gas * price } }
}

/** Reads a block number. Throws `SvcError('rpc_error')` for anything else. */
export function readHeight(raw: unknown): bigint {
  const height = parseCount(raw)
  if (height !== undefined) return BigInt(height)
  throw new SvcError('rpc_error', 'the RPC answered with a block number that is none')
}

/** Whether the log is this event of this contract. Throws when it is not a log. */
export const isEventOf = (log: ChainLog, emitter: Address, topic: string): boolean =>
  log.topics[0] === topic && parseAddress(log.address) === emitter
