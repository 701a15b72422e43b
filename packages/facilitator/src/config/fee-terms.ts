/** The fee of new challenges, as the operator set it. */
import type { Config } from './config.js'

/** In split mode no recipient is named: the splitter knows who gets the fee, and nothing is swept. */
export function feeTermsOf({ fee }: Pick<Config, 'fee'>) {
  if (fee === undefined) return undefined
  const { bps, min_per_payment: minPerPayment, charge_to: chargeTo, recipient, splitter } = fee
  const isSwept = splitter === undefined && recipient !== undefined
  return { bps, minPerPayment, chargeTo, ...(isSwept && { recipient }) }
}

const defaultIntervalSeconds = 86_400

/** When fees are sent on. Fees of older payments are swept even if the table is gone. */
export const sweepPaceOf = ({ fee }: Pick<Config, 'fee'>) => ({
  minAmount: fee?.sweep_min ?? 0n,
  intervalMs: (fee?.sweep_interval_secs ?? defaultIntervalSeconds) * 1_000,
})
