/** List price → quoted amount, with the facilitator's fee on top of it or inside it, in whole base units. */
import { accept, amountLimit, type BaseUnits, type Result, reject } from '@svc-zerc20/protocol'
import type { Challenge, Fee } from '../records.js'

/** The fee that every challenge is issued with, from the configuration. */
export type FeeTerms = Omit<Fee, 'amount'> & {
  /** The least fee of a payment. */
  readonly minPerPayment: BaseUnits
}

/** One in basis points. */
const wholeBps = 10_000n

/** The share is rounded up, so that a fee of any basis points is at least one unit. */
function feeOf(listPrice: BaseUnits, { minPerPayment, ...terms }: FeeTerms): Fee {
  const share = (listPrice * BigInt(terms.bps) + wholeBps - 1n) / wholeBps
  return { amount: (share > minPerPayment ? share : minPerPayment) as BaseUnits, ...terms }
}

export type Quote = Pick<Challenge, 'listPrice' | 'amount' | 'fee'>

export type QuoteTerms = {
  /** Lower list prices are refused: such a payment would cost its provider more gas than it brings. */
  readonly minAmount: bigint
  readonly fee?: FeeTerms | undefined
}

export function quote(listPrice: BaseUnits, { minAmount, fee: terms }: QuoteTerms): Result<Quote> {
  if (listPrice <= 0n || listPrice >= amountLimit) return reject('invalid_amount')
  if (listPrice < minAmount) return reject('invalid_amount', `the least amount taken here is ${minAmount}`)
  if (terms === undefined) return accept({ listPrice, amount: listPrice })
  const fee = feeOf(listPrice, terms)
  if (terms.chargeTo === 'provider') {
    // The message does not tell the fee: anybody may ask for a challenge, and the provider's terms are not public.
    if (fee.amount >= listPrice) {
      return reject('invalid_amount', `the fee leaves the provider nothing of ${listPrice}`)
    }
    return accept({ listPrice, amount: listPrice, fee })
  }
  const amount = (listPrice + fee.amount) as BaseUnits
  if (amount >= amountLimit) {
    return reject('invalid_amount', `with the fee of ${fee.amount} the amount is not below 2^248`)
  }
  return accept({ listPrice, amount, fee })
}
