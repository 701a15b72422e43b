/** The most that a root transaction pays for gas, as the operator sets it. */
import type { GasPriceCeiling } from '@svc-zerc20/evm'
import { SvcError } from '@svc-zerc20/protocol'
import { parseGwei } from 'viem/utils'

export const defaultCeilingGwei = { maxFeeGwei: 500, maxTipGwei: 100 } as const

/** Throws `SvcError('bad_option')` when the tip could exceed the whole. */
export function gasPriceCeiling({
  maxFeeGwei,
  maxTipGwei,
}: {
  maxFeeGwei: number
  maxTipGwei: number
}): GasPriceCeiling {
  if (maxTipGwei > maxFeeGwei) {
    throw new SvcError('bad_option', `--max-tip-gwei: ${maxTipGwei} exceeds --max-fee-gwei, ${maxFeeGwei}`)
  }
  return { feePerGasMax: parseGwei(`${maxFeeGwei}`), tipPerGasMax: parseGwei(`${maxTipGwei}`) }
}
