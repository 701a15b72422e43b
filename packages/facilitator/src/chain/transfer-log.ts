/** Reads the logs a burn leaves, the token's transfer and the helper's verdict, and the one a mint leaves. */
import {
  type Address,
  type BaseUnits,
  type ChallengeNonce,
  parseAddress,
  parseBytes32,
  parseChallengeNonce,
  parseTxHash,
  SvcError,
  type TxHash,
} from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { decodeAbiParameters, toEventSelector } from 'viem/utils'
import type { TransferLog } from '../payment/ports.js'
import type { Burn, Challenge } from '../payment/records.js'
import { wellFormed } from './json-rpc.js'

export type Log = {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly transactionHash?: string
  readonly blockNumber?: string
  readonly blockHash?: string
}

export type Receipt = {
  readonly transactionHash: TxHash
  readonly succeeded: boolean
  readonly blockNumber: bigint
  readonly blockHash: string
  readonly logs: readonly Log[]
  /** Absent when the node does not tell. */
  readonly cost?: { readonly gas: bigint; readonly wei: bigint }
}

export const indexedTransferTopic = toEventSelector('IndexedTransfer(uint256,address,address,uint256)')
export const burnExecutedTopic = toEventSelector('BurnExecuted(bytes32,address,address,address,uint256)')
const teleportTopic = toEventSelector('Teleport(address,uint256)')
const burnFailedTopic = toEventSelector('BurnFailed(bytes32,bytes)')
const transferData = [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }] as const
const teleportData = [{ type: 'uint256' }] as const
const failureData = [{ type: 'bytes' }] as const

/** A node's receipt in our terms, or undefined for `null`. */
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
    logs: receipt.logs as Log[],
    ...costOf(receipt),
  }
}

function costOf({ gasUsed, effectiveGasPrice }: Record<string, unknown>): Pick<Receipt, 'cost'> {
  if (!isQuantity(gasUsed) || !isQuantity(effectiveGasPrice)) return {}
  const gas = BigInt(gasUsed)
  return { cost: { gas, wei: gas * BigInt(effectiveGasPrice) } }
}

const isQuantity = (raw: unknown): raw is string => typeof raw === 'string' && /^0x[0-9a-f]{1,64}$/i.test(raw)

function readHeight(raw: unknown): bigint {
  const height = Number(raw)
  if (typeof raw === 'string' && Number.isSafeInteger(height)) return BigInt(height)
  throw new SvcError('rpc_error', 'the RPC answered with a block number that is none')
}

const readLogs = <T>(read: () => T): T => wellFormed('eth_getTransactionReceipt', read)

const isFrom = (log: Log, emitter: Address, topic: string) =>
  log.topics[0] === topic && parseAddress(log.address) === emitter

/** Every transfer of the token in a transaction, in log order. */
export function transfersIn(logs: readonly Log[], token: Address): TransferLog[] {
  return readLogs(() => logs.filter((log) => isFrom(log, token, indexedTransferTopic)).map(toTransfer))
}

function toTransfer(log: Log): TransferLog {
  const [from, to, value] = decodeAbiParameters(transferData, log.data as Hex)
  return {
    leafIndex: BigInt(log.topics[1] ?? '0x'),
    from: from.toLowerCase() as Address,
    to: to.toLowerCase() as Address,
    value: value as BaseUnits,
  }
}

export type PlacedTransfer = TransferLog & Pick<Burn, 'txHash' | 'blockNumber' | 'blockHash'>

/** Every transfer of the token among logs of many blocks, in their order, and where each of them is. */
export function placedTransfersIn(logs: readonly Log[], token: Address): PlacedTransfer[] {
  const read = (log: Log): PlacedTransfer => {
    const txHash = parseTxHash(log.transactionHash)
    const blockHash = parseBytes32(log.blockHash)
    if (txHash === undefined || blockHash === undefined) throw new Error('a log without its place')
    return { ...toTransfer(log), txHash, blockHash, blockNumber: readHeight(log.blockNumber) }
  }
  return wellFormed('eth_getLogs', () =>
    logs.filter((log) => isFrom(log, token, indexedTransferTopic)).map(read),
  )
}

/**
 * Finds the burn of a challenge among a successful transaction's logs. The logs are read once, however many
 * challenges of a batch are asked for.
 */
export function burnsIn(receipt: Receipt, token: Address): (challenge: Challenge) => Burn | undefined {
  const transfers = receipt.succeeded ? transfersIn(receipt.logs, token) : []
  const { transactionHash: txHash, blockNumber, blockHash } = receipt
  return (challenge) => {
    const transfer = transfers.find(({ to, value }) => to === challenge.payTo && value >= challenge.amount)
    if (!transfer) return undefined
    const { leafIndex, from, value } = transfer
    return { txHash, blockNumber, blockHash, leafIndex, from, value }
  }
}

/** What the token created in a transaction, whoever got it. */
export function mintedIn({ logs }: Receipt, token: Address): BaseUnits {
  const teleports = readLogs(() => logs.filter((log) => isFrom(log, token, teleportTopic)))
  const values = teleports.map(({ data }) =>
    readLogs(() => decodeAbiParameters(teleportData, data as Hex)[0]),
  )
  return values.reduce((sum, value) => sum + value, 0n) as BaseUnits
}

export type BurnVerdict = 'executed' | { readonly reason: Hex }

/** The helper's verdict on each burn of a batch, by challenge nonce: executed, or why not (raw revert data). */
export function verdictsIn(receipt: Receipt, helper: Address): Map<ChallengeNonce, BurnVerdict> {
  const verdicts = new Map<ChallengeNonce, BurnVerdict>()
  for (const log of receipt.logs) {
    const nonce = parseChallengeNonce(log.topics[1])
    const verdict = readLogs(() => verdictIn(log, helper))
    if (nonce !== undefined && verdict !== undefined) verdicts.set(nonce, verdict)
  }
  return verdicts
}

function verdictIn(log: Log, helper: Address): BurnVerdict | undefined {
  if (isFrom(log, helper, burnExecutedTopic)) return 'executed'
  if (!isFrom(log, helper, burnFailedTopic)) return undefined
  const [reason] = decodeAbiParameters(failureData, log.data as Hex)
  return { reason }
}
