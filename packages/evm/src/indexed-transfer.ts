/** `IndexedTransfer`, the event that the token emits for every leaf of its tree. */
import {
  type Address,
  type BaseUnits,
  type Bytes32,
  parseAddress,
  parseBytes32,
  parseTxHash,
  SvcError,
  type TxHash,
} from '@svc-zerc20/protocol'
import { toEventSelector } from 'viem/utils'
import { wellFormed } from './json-rpc.js'
import { parseCount } from './quantities.js'
import { type ChainLog, isEventOf, readHeight } from './receipts.js'

export const indexedTransferTopic = toEventSelector('IndexedTransfer(uint256,address,address,uint256)')

export type IndexedTransfer = {
  /** Position of the leaf in the token's tree. */
  readonly leafIndex: bigint
  readonly from: Address
  readonly to: Address
  readonly value: BaseUnits
}

/** A transfer and its place on the chain. */
export type PlacedTransfer = IndexedTransfer & {
  readonly txHash: TxHash
  readonly blockNumber: bigint
  readonly blockHash: Bytes32
}

/** Every transfer of the token in a transaction, in log order. */
export function transfersIn(logs: readonly ChainLog[], token: Address): IndexedTransfer[] {
  return wellFormed('eth_getTransactionReceipt', () =>
    logs.filter((log) => isEventOf(log, token, indexedTransferTopic)).map(toTransfer),
  )
}

/** Every transfer of the token among logs of many blocks, in their order, with the place of each. */
export function placedTransfersIn(logs: readonly ChainLog[], token: Address): PlacedTransfer[] {
  return wellFormed('eth_getLogs', () =>
    logs.filter((log) => isEventOf(log, token, indexedTransferTopic)).map(toPlaced),
  )
}

/** One transfer of a mined block. Throws `SvcError('rpc_error')` for anything else. */
export const parsePlacedTransfer = (log: ChainLog): PlacedTransfer =>
  wellFormed('eth_getLogs', () => toPlaced(log))

const dataPattern = /^0x(?:[0-9a-f]{64}){3}$/i

/** Decoded by hand for speed: the layout is fixed, and the receipt of a full batch holds many transfers. */
function toTransfer({ topics, data }: ChainLog): IndexedTransfer {
  if (topics[0] !== indexedTransferTopic || topics.length !== 2 || !dataPattern.test(data)) throw noTransfer()
  const leafIndex = parseCount(topics[1])
  const from = addressIn(data.slice(2, 66))
  const to = addressIn(data.slice(66, 130))
  if (leafIndex === undefined || from === undefined || to === undefined) throw noTransfer()
  return { leafIndex: BigInt(leafIndex), from, to, value: BigInt(`0x${data.slice(130)}`) as BaseUnits }
}

function toPlaced(log: ChainLog): PlacedTransfer {
  const txHash = parseTxHash(log.transactionHash)
  const blockHash = parseBytes32(log.blockHash)
  // `removed` marks a log whose block left the chain in a reorg.
  if (txHash === undefined || blockHash === undefined || log.removed === true) throw noTransfer()
  return { ...toTransfer(log), txHash, blockHash, blockNumber: readHeight(log.blockNumber) }
}

const addressIn = (word: string): Address | undefined =>
  word.startsWith('0'.repeat(24)) ? parseAddress(`0x${word.slice(24)}`) : undefined

const noTransfer = () =>
  new SvcError('rpc_error', 'the RPC answered with something that is no IndexedTransfer')
