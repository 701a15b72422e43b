export {
  type BlockRef,
  blockCall,
  isBacked,
  latestCall,
  readBlock,
  readBlockAt,
  readHead,
  readLatest,
  readTimedBlock,
} from './blocks.js'
export {
  baseFeeOf,
  createGasPrices,
  type GasPrice,
  type GasPriceCeiling,
  type GasPrices,
} from './gas-prices.js'
export {
  type IndexedTransfer,
  indexedTransferTopic,
  type PlacedTransfer,
  parsePlacedTransfer,
  placedTransfersIn,
  transfersIn,
} from './indexed-transfer.js'
export {
  callAll,
  createJsonRpc,
  type JsonRpc,
  quantityOf,
  type RpcAnswer,
  type RpcCall,
  resultOf,
  wellFormed,
} from './json-rpc.js'
export { parseCount, parseQuantity } from './quantities.js'
export { type ChainLog, isEventOf, parseReceipt, type Receipt } from './receipts.js'
export { judgeRefusal, type Refusal, type RefusalCause, refusalCause } from './refusals.js'
export {
  createLogSpan,
  type LogFilter,
  type LogSpan,
  readLogs,
  type ScannedLogs,
  scanLogs,
} from './scan-logs.js'
export { type HashSigner, signTransaction } from './sign-transaction.js'
