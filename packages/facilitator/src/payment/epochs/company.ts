/**
 * The company of a burn in a batch: the accounts that paid. One account that pays thirty times is one, and small change is
 * none, or a stranger would be the whole company of a burn for the price of its smallest coins. Pure.
 */
import type { Burn } from '../records.js'

export type Company = {
  /** So many accounts make a company. */
  readonly least: number
  /** A burn of less is nobody's company, in base units. */
  readonly floor: bigint
}

type Paid = { readonly burn: Pick<Burn, 'from' | 'value'> }

/** How many of these it takes, from the first on, until they are a company. Undefined when they are none. */
export function companyAfter(paid: readonly Paid[], company: Company): number | undefined {
  const payers = new Set<string>()
  for (const [i, { burn }] of paid.entries()) {
    if (burn.value >= company.floor) payers.add(burn.from)
    if (payers.size >= company.least) return i + 1
  }
  return undefined
}
