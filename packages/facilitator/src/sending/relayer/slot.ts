/**
 * One txNonce of the relayer and the transaction that is to use it. The chain's view decides the next step.
 */
import type { GasPrice, Receipt } from '@svc-zerc20/evm'
import { type Address, parseAddress, type TxHash } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { parseTransaction } from 'viem/utils'
import type { Purpose, SignedTransaction } from '../../payment/records.js'
import type { AnswerTimes, Head, RelayView } from './view.js'

/** The owner of a transaction, as far as the queue tells it anything. */
export type CallOwner = {
  readonly purpose: Purpose
  /** Awaited after signing and before anyone can see the transaction; again for each replacement. */
  readonly recordSigned: (transaction: SignedTransaction) => Promise<void>
  /**
   * A reorg took the transaction back after it had ended as mined; `ended` is its new end. `gone`: no block
   * holds it, and it is sent again. `moved`: another block holds it, where it may have had another effect.
   */
  readonly onReorged?: (ended: Promise<RelayEnd>, how: Reorg) => void
  /**
   * Asked before the transaction is sent again: what of the call is still worth its gas. Undefined when nothing is; then only
   * its txNonce is used. Absent: all of it, always.
   */
  readonly left?: () => Pick<RelayedCall, 'data' | 'gas' | 'recordSigned'> | undefined
}

/** Whether the transaction would do nothing any more, at our cost. */
export const isPointless = ({ left }: Pick<CallOwner, 'left'>): boolean => left !== undefined && !left()

export type RelayedCall = CallOwner & { readonly to: Address; readonly data: Hex; readonly gas: bigint }

export type Reorg = 'gone' | 'moved'

export type RelayEnd =
  | { readonly kind: 'mined'; readonly receipt: Receipt }
  /**
   * The call was not executed and cannot be any more. `foreign`: someone else used its txNonce. `refused`: no node
   * took it, and its txNonce was used up by an empty transaction.
   */
  | { readonly kind: 'displaced'; readonly why: 'foreign' | 'refused' }

/** A signed version of a transaction; a replacement at a higher price is another version. */
export type SignedVersion = {
  readonly hash: TxHash
  readonly raw: Hex
  readonly price: GasPrice
  /** The transaction does nothing but use up the txNonce. */
  readonly isEmpty: boolean
  /** The node's latest answer about this version was a lasting refusal. */
  isRefused: boolean
}

export type Slot = {
  readonly txNonce: number
  /** The call of a further version: the one the slot was opened for, or an empty one once that was given up. */
  call: RelayedCall
  /** Newest last; any of them may be the one that is mined. */
  readonly versions: SignedVersion[]
  signedAtMs: number
  sentAtMs: number
  txNonceUsedSinceMs?: number
  /** The node said that the key cannot pay. More money helps then; a higher price does not. */
  unfunded: boolean
  /** Lasting refusals since the node last took a version. */
  refusals: number
  end: (end: RelayEnd) => void
}

export type SlotLimits = {
  readonly rebroadcastMs: number
  readonly priceBumpAfterMs: number
  readonly displacedAfterMs: number
  readonly refusalsMax: number
}

export type SlotStep = RelayEnd | { readonly kind: 'wait' | 'raise_price' | 'send_again' | 'give_up' }

/** A step that leaves the transaction in its slot. */
export type OpenStep = Exclude<SlotStep, RelayEnd>

/** More than a plain transfer takes on any chain. Unused gas is not paid. */
const emptyCallGas = 100_000n

/** A call that uses up a txNonce and does nothing else. */
export const emptyCall = (
  self: Address,
  recordSigned: RelayedCall['recordSigned'],
): Omit<RelayedCall, 'purpose'> => ({ to: self, data: '0x', gas: emptyCallGas, recordSigned })

export function openSlot(
  opening: Pick<Slot, 'txNonce' | 'call' | 'versions' | 'end'>,
  times: { readonly signedAtMs: number; readonly sentAtMs: number },
): Slot {
  return { ...opening, ...times, unfunded: false, refusals: 0 }
}

/** The call and the versions of a transaction that an earlier run signed. */
export function readVersions(
  transactions: readonly SignedTransaction[],
  self: Address,
):
  | { readonly call: Pick<RelayedCall, 'to' | 'data' | 'gas'>; readonly versions: SignedVersion[] }
  | undefined {
  const newest = transactions.at(-1)
  if (!newest) return undefined
  const { to, data, gas } = parseTransaction(newest.raw)
  return {
    call: { to: parseAddress(to) ?? self, data: data ?? '0x', gas: gas ?? emptyCallGas },
    versions: transactions.map(({ hash, raw }) => newVersion({ hash, raw, price: priceOf(raw) })),
  }
}

export const newVersion = (
  signed: Pick<SignedVersion, 'hash' | 'raw' | 'price'>,
  { isEmpty = false }: Partial<Pick<SignedVersion, 'isEmpty'>> = {},
): SignedVersion => ({ ...signed, isEmpty, isRefused: false })

/**
 * The version to send: the newest one that was not refused. A node that refuses a raised price may still take the
 * version before.
 */
export const versionToSend = ({ versions }: Slot): SignedVersion | undefined =>
  versions.findLast(({ isRefused }) => !isRefused) ?? versions.at(-1)

/** The next step for a slot, given the node's view of it; remembers since when its txNonce is used. */
export function nextStep(
  slot: Slot,
  /** One for each of its versions, in order. */
  receipts: RelayView['receipts'],
  { head, usedTxNonces }: { readonly head: Pick<Head, 'number'>; readonly usedTxNonces: number },
  { askedMs, answeredMs, confirmations, limits }: AnswerTimes & { confirmations: number; limits: SlotLimits },
): SlotStep {
  const index = receipts.findIndex((found) => typeof found === 'object')
  const receipt = receipts[index]
  if (typeof receipt === 'object') {
    delete slot.txNonceUsedSinceMs
    // The receipt's block may be newer than the head that was read. Then that block is the head.
    const above = head.number > receipt.blockNumber ? head.number - receipt.blockNumber : 0n
    if (above + 1n < BigInt(confirmations)) return { kind: 'wait' }
    return slot.versions[index]?.isEmpty ? { kind: 'displaced', why: 'refused' } : { kind: 'mined', receipt }
  }
  if (usedTxNonces > slot.txNonce) {
    // A node that lags may show the txNonce used before it shows the receipt.
    slot.txNonceUsedSinceMs ??= answeredMs
    const isAbsent = !receipts.includes('unreadable')
    const isSure = isAbsent && askedMs - slot.txNonceUsedSinceMs >= limits.displacedAfterMs
    return isSure ? { kind: 'displaced', why: 'foreign' } : { kind: 'wait' }
  }
  delete slot.txNonceUsedSinceMs
  const isGivenUp = slot.versions.some(({ isEmpty }) => isEmpty)
  const isRefused = slot.refusals >= limits.refusalsMax && slot.versions.every((version) => version.isRefused)
  if (isRefused && !isGivenUp) return { kind: 'give_up' }
  const isStuck = slot.txNonce === usedTxNonces && askedMs - slot.signedAtMs >= limits.priceBumpAfterMs
  if (isStuck && !slot.unfunded) return { kind: 'raise_price' }
  return { kind: askedMs - slot.sentAtMs >= limits.rebroadcastMs ? 'send_again' : 'wait' }
}

function priceOf(raw: Hex): GasPrice {
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw)
  return { maxFeePerGas, maxPriorityFeePerGas }
}
