/** One nonce of the relayer and the transaction that is to use it: what the chain shows decides the next step. */
import { type Address, parseAddress, type TxHash } from '@svc-zerc20/protocol'
import { type Hex, parseTransaction } from 'viem'
import type { SignedTransaction } from '../payment/ports.js'
import type { Fee } from './fees.js'
import type { RelayView } from './relay-view.js'
import type { Receipt } from './transfer-log.js'

/** Burns are awaited by callers; mints are not, and never go first. */
export type Purpose = 'burn' | 'mint'

export type RelayedCall = {
  readonly purpose: Purpose
  readonly to: Address
  readonly data: Hex
  readonly gas: bigint
  /** Awaited after signing and before anyone can see the transaction; again for each replacement. */
  readonly recordSigned: (transaction: SignedTransaction) => Promise<void>
}

export type RelayEnd =
  | { readonly kind: 'mined'; readonly receipt: Receipt }
  /** The nonce was used by a transaction that is not ours: this call was not executed by us. */
  | { readonly kind: 'displaced' }

/** A signed form of a transaction; a replacement at a higher fee is another form. */
export type Form = { readonly hash: TxHash; readonly raw: Hex; readonly fee: Fee }

export type Slot = {
  readonly nonce: number
  readonly call: RelayedCall
  /** Newest last; any of them may be the one that is mined. */
  readonly forms: Form[]
  signedAtMs: number
  sentAtMs: number
  nonceUsedSinceMs?: number
  /** The node said that the key cannot pay: more money helps then, a higher fee does not. */
  unfunded: boolean
  readonly end: (end: RelayEnd) => void
}

export type SlotLimits = {
  readonly rebroadcastMs: number
  readonly feeBumpAfterMs: number
  readonly displacedAfterMs: number
}

export type SlotStep = RelayEnd | { readonly kind: 'wait' | 'raise_fee' | 'send_again' }

/** More than a plain transfer takes on any chain; what is not used is not paid. */
const emptyCallGas = 100_000n

/** Uses up a nonce and does nothing else. */
export const emptyCall = (self: Address): RelayedCall => ({
  purpose: 'burn',
  to: self,
  data: '0x',
  gas: emptyCallGas,
  recordSigned: async () => undefined,
})

export function openSlot(
  opening: Pick<Slot, 'nonce' | 'call' | 'forms' | 'end'>,
  times: { readonly signedAtMs: number; readonly sentAtMs: number },
): Slot {
  return { ...opening, ...times, unfunded: false }
}

/** The call and the forms of a transaction that an earlier run signed. */
export function readForms(
  transactions: readonly SignedTransaction[],
  self: Address,
): { readonly call: Pick<RelayedCall, 'to' | 'data' | 'gas'>; readonly forms: Form[] } | undefined {
  const newest = transactions.at(-1)
  if (!newest) return undefined
  const { to, data, gas } = parseTransaction(newest.raw)
  return {
    call: { to: parseAddress(to) ?? self, data: data ?? '0x', gas: gas ?? emptyCallGas },
    forms: transactions.map(({ hash, raw }) => ({ hash, raw, fee: feeOf(raw) })),
  }
}

/** What to do about a slot, given what the node shows of it; remembers since when its nonce is used. */
export function nextStep(
  slot: Slot,
  receipts: RelayView['receipts'],
  { headNumber, usedNonces }: Pick<RelayView, 'headNumber' | 'usedNonces'>,
  { now, confirmations, limits }: { now: number; confirmations: number; limits: SlotLimits },
): SlotStep {
  const receipt = receipts.find((found) => typeof found === 'object')
  if (receipt) {
    delete slot.nonceUsedSinceMs
    const depth = headNumber - receipt.blockNumber + 1n
    return depth >= BigInt(confirmations) ? { kind: 'mined', receipt } : { kind: 'wait' }
  }
  if (usedNonces > slot.nonce) {
    // A node that lags may show the nonce used before it shows the receipt.
    slot.nonceUsedSinceMs ??= now
    const isAbsent = !receipts.includes('unreadable')
    const isSure = isAbsent && now - slot.nonceUsedSinceMs >= limits.displacedAfterMs
    return { kind: isSure ? 'displaced' : 'wait' }
  }
  delete slot.nonceUsedSinceMs
  const isStuck = slot.nonce === usedNonces && now - slot.signedAtMs >= limits.feeBumpAfterMs
  if (isStuck && !slot.unfunded) return { kind: 'raise_fee' }
  return { kind: now - slot.sentAtMs >= limits.rebroadcastMs ? 'send_again' : 'wait' }
}

function feeOf(raw: Hex): Fee {
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw)
  return { maxFeePerGas, maxPriorityFeePerGas }
}
