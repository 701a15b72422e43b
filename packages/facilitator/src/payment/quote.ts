/** List price → quoted amount. Fees are added here when they arrive; without them the two are equal. */
import { accept, amountLimit, type BaseUnits, type Result, reject } from '@svc-zerc20/protocol'

export type Quote = { readonly listPrice: BaseUnits; readonly amount: BaseUnits }

export function quote(listPrice: BaseUnits): Result<Quote> {
  if (listPrice <= 0n || listPrice >= amountLimit) return reject('invalid_amount')
  return accept({ listPrice, amount: listPrice })
}
