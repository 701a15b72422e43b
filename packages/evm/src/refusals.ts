/** Why a node does not take a transaction. Every client says it in its own words. */

/**
 * - `held`: the node has these bytes already
 * - `nonce_used`: a transaction with this nonce is mined, perhaps these very bytes
 * - `unfunded`: the key cannot pay; money helps, a higher fee does not
 * - `underpriced`: too little is offered for gas
 * - `nonce_gap`: the transaction before this one is missing
 * - `node_busy`: the node is at fault
 * - `invalid`: the transaction itself is at fault; the same bytes will be refused again
 */
export type RefusalCause =
  | 'held'
  | 'nonce_used'
  | 'unfunded'
  | 'underpriced'
  | 'nonce_gap'
  | 'node_busy'
  | 'invalid'

const patterns: readonly (readonly [RefusalCause, RegExp])[] = [
  ['held', /already ?known|already in\b|known transaction|already imported|same hash/i],
  ['nonce_used', /nonce too low|old ?nonce|nonce.*already/i],
  ['unfunded', /insufficient ?(?:funds|balance)|enough funds|exceeds account balance/i],
  [
    'underpriced',
    /underpriced|fee ?too ?low|below|too low for|less than (?:the )?block base fee|replacement|not ?allowed/i,
  ],
  ['nonce_gap', /nonce too (?:high|distant)|nonce ?gap|gapped|future transaction/i],
  [
    'node_busy',
    /pool is full|limit reached|rate ?limit|too many|time(?:d )?out|busy|syncing|internal error/i,
  ],
]

export function refusalCause(message: string): RefusalCause {
  return patterns.find(([, pattern]) => pattern.test(message))?.[0] ?? 'invalid'
}

/**
 * - `known`: the node has the transaction, or the nonce is used; the receipt will tell
 * - `unfunded`: the key cannot pay
 * - `passing`: another fee, the transaction before this one or time will help
 * - `lasting`: the same bytes will be refused again
 */
export type Refusal = 'known' | 'unfunded' | 'passing' | 'lasting'

const refusalBy: Record<RefusalCause, Refusal> = {
  held: 'known',
  nonce_used: 'known',
  unfunded: 'unfunded',
  underpriced: 'passing',
  nonce_gap: 'passing',
  node_busy: 'passing',
  invalid: 'lasting',
}

/** What a refusal means for bytes that may be sent again. */
export const judgeRefusal = (message: string): Refusal => refusalBy[refusalCause(message)]
