/** What a transaction offers for gas, and never more than the operator's ceiling. */
import { SvcError } from '@svc-zerc20/protocol'
import { parseGwei } from 'viem'

export type Fees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }

/** In wei: whatever the node says, no transaction pays more for its gas, or more of it as a tip. */
export type FeeCeiling = { readonly feePerGasMax: bigint; readonly tipPerGasMax: bigint }

export const defaultCeilingGwei = { maxFeeGwei: 500, maxTipGwei: 100 } as const

/** For nodes that suggest none, in wei. */
export const fallbackTip = 1_000_000_000n

/** Throws `SvcError('bad_option')` when the tip could exceed the whole. */
export function feeCeiling({
  maxFeeGwei,
  maxTipGwei,
}: {
  maxFeeGwei: number
  maxTipGwei: number
}): FeeCeiling {
  if (maxTipGwei > maxFeeGwei) {
    throw new SvcError('bad_option', `--max-tip-gwei: ${maxTipGwei} exceeds --max-fee-gwei, ${maxFeeGwei}`)
  }
  return { feePerGasMax: parseGwei(`${maxFeeGwei}`), tipPerGasMax: parseGwei(`${maxTipGwei}`) }
}

/**
 * Twice the base fee outlasts six full blocks, each of which can raise it by an eighth. A suggested tip is believed up
 * to half of its ceiling: nodes take no replacement without a higher tip.
 */
export function dueFees(baseFee: bigint, suggestedTip: bigint, ceiling: FeeCeiling): Fees {
  const tip = min(suggestedTip, ceiling.tipPerGasMax / 2n)
  const maxFeePerGas = min(2n * baseFee + tip, ceiling.feePerGasMax)
  return { maxFeePerGas, maxPriorityFeePerGas: min(tip, maxFeePerGas) }
}

/** The fees of a replacement; undefined when the ceiling leaves no room for it. */
export function raisedFees(previous: Fees, ceiling: FeeCeiling): Fees | undefined {
  const maxFeePerGas = raise(previous.maxFeePerGas)
  const maxPriorityFeePerGas = raise(previous.maxPriorityFeePerGas)
  if (maxFeePerGas > ceiling.feePerGasMax || maxPriorityFeePerGas > ceiling.tipPerGasMax) return undefined
  return { maxFeePerGas, maxPriorityFeePerGas }
}

const raise = (fee: bigint) => fee + fee / 4n + 1n
const min = (a: bigint, b: bigint) => (a < b ? a : b)
