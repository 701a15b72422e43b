/** A transfer as the indexer counts it: the token's `IndexedTransfer` and its place, in plain numbers. */
import { type ChainLog, parseCount, parsePlacedTransfer } from '@svc-zerc20/evm'
import { type Address, type Bytes32, SvcError, type TxHash } from '@svc-zerc20/protocol'

/** One transfer with its place on the chain. */
export type ReportedTransfer = {
  /** Position of the leaf. */
  readonly index: number
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly blockNumber: number
  readonly blockHash: Bytes32
  readonly transactionHash: TxHash
  readonly logIndex: number
}

/** Throws `SvcError('rpc_error')` for a log that is not a transfer in a mined block. */
export function parseTransfer(log: ChainLog): ReportedTransfer {
  const { leafIndex, from, to, value, txHash, blockNumber, blockHash } = parsePlacedTransfer(log)
  const logIndex = parseCount(log.logIndex)
  if (logIndex === undefined) {
    throw new SvcError('rpc_error', 'eth_getLogs: the RPC answered with a log that has no index')
  }
  return {
    index: Number(leafIndex),
    from,
    to,
    value,
    blockNumber: Number(blockNumber),
    blockHash,
    transactionHash: txHash,
    logIndex,
  }
}
