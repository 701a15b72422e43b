/** List price → quoted amount. Fees are added here when they arrive; without them the two are equal. */
import { accept, amountLimit, type BaseUnits, type Result, reject } from '@svc-zerc20/protocol'

export type Quote = { readonly listPrice: BaseUnits; readonly amount: BaseUnits }

/** Below the minimum a payment would cost its provider more gas than it brings. */
export function quote(listPrice: BaseUnits, minAmount = 0n): Result<Quote> {
  if (listPrice <= 0n || listPrice >= amountLimit) return reject('invalid_amount')
  if (listPrice < minAmount) return reject('invalid_amount', `the least amount taken here is ${minAmount}`)
  return accept({ listPrice, amount: listPrice })
}
