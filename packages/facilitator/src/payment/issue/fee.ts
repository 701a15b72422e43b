/** The facilitator's fee of a list price, in whole base units. */
import type { BaseUnits } from '@svc-zerc20/protocol'
import type { Fee } from '../records.js'

/** The fee that every challenge is issued with, from the configuration. */
export type FeeTerms = Omit<Fee, 'amount'> & {
  /** The least fee of a payment. */
  readonly minPerPayment: BaseUnits
}

/** One in basis points. */
const wholeBps = 10_000n

/** The share is rounded up, so that a fee of any basis points is at least one unit. */
export function feeOf(listPrice: BaseUnits, { minPerPayment, ...terms }: FeeTerms): Fee {
  const share = (listPrice * BigInt(terms.bps) + wholeBps - 1n) / wholeBps
  return { amount: (share > minPerPayment ? share : minPerPayment) as BaseUnits, ...terms }
}
