/** What a node means when it does not take a transaction. Every client says it in its own words. */

/**
 * - `known`: it has the transaction, or the nonce is used; the receipt will tell
 * - `unfunded`: the key cannot pay; money helps, a higher fee does not
 * - `passing`: another fee, the transaction before this one or time will help
 * - `lasting`: the transaction itself is at fault; the same bytes will be refused again
 */
export type Refusal = 'known' | 'unfunded' | 'passing' | 'lasting'

const patterns: readonly (readonly [Refusal, RegExp])[] = [
  ['known', /already ?known|known transaction|already imported|same hash|nonce too low|old ?nonce/i],
  ['unfunded', /insufficient ?funds|enough funds|exceeds account balance/i],
  // Too little is offered: the fee is raised in time.
  ['passing', /underpriced|fee ?too ?low|below|too low for|less than (?:the )?block base fee|not ?allowed/i],
  // The transaction before this one is missing.
  ['passing', /nonce too (?:high|distant)|nonce ?gap|gapped|future transaction/i],
  // The node is at fault.
  ['passing', /pool is full|limit reached|rate ?limit|too many|time(?:d )?out|busy|syncing|internal error/i],
]

export function judgeRefusal(message: string): Refusal {
  return patterns.find(([, pattern]) => pattern.test(message))?.[0] ?? 'lasting'
}
