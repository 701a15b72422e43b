/** The fee of new challenges, as the operator set it. */
import type { Config } from './config.js'

/** In split mode no recipient is named: the splitter knows who gets the fee, and nothing is swept. */
export function feeTermsOf({ fee }: Pick<Config, 'fee'>) {
  if (fee === undefined) return undefined
  const { bps, min_per_payment: minPerPayment, charge_to: chargeTo, recipient, splitter } = fee
  const isSwept = splitter === undefined && recipient !== undefined
  return { bps, minPerPayment, chargeTo, ...(isSwept && { recipient }) }
}
