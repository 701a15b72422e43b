/** Reports the gas cost of one payment at the current price, so that nobody unknowingly sells below it. */
import { formatEther } from 'viem/utils'
import type { PartialConfig } from '../../config/config.js'
import type { Finding } from '../../config/finding.js'

/** Gas of a single payment, rounded from contracts/test/gas-snapshot.json. Burns that share a transaction cost less. */
export const paymentGas = { burn: 140_000n, mint: 310_000n } as const

export function judgeCosts(
  { profile, settlement }: Pick<PartialConfig, 'profile' | 'settlement'>,
  gasPrice: bigint,
): Finding {
  const key = 'settlement.min_amount'
  const isRelayed = settlement.permit_burner !== undefined
  const burn = `${formatEther(paymentGas.burn * gasPrice)} for its burn when it is relayed and `
  const mint = `${formatEther(paymentGas.mint * gasPrice)} for its mint`
  const cost = `at the present gas price a payment costs ${isRelayed ? burn : ''}${mint}, in the native currency`
  const isBounded = [settlement.min_amount, settlement.relay_min_amount].some((least) => (least ?? 0n) > 0n)
  if (profile === 'local' || isBounded) return { level: 'ok', key, message: cost }
  const unset = isRelayed
    ? 'neither this nor settlement.relay_min_amount is set, so payments of one base unit are taken'
    : 'is not set, so payments of one base unit are taken'
  return { level: 'warn', key, message: `${unset}; ${cost}` }
}
