/** Why a node refuses a transaction, from its message. Every client words it differently. */

/**
 * - `held`: the node has these bytes already
 * - `nonce_used`: a transaction with this txNonce is mined, perhaps these very bytes
 * - `unfunded`: the account cannot pay for gas; only more money helps
 * - `underpriced`: the fee is too low
 * - `nonce_gap`: the transaction before this one is missing
 * - `node_busy`: the node has trouble of its own
 * - `invalid`: the transaction is wrong; the same bytes will be refused again
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
 * - `known`: the node has the transaction, or its txNonce is used; look for the receipt
 * - `unfunded`: the account cannot pay for gas
 * - `passing`: a higher fee, the missing earlier transaction, or time will help
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

/** Says whether sending the same bytes again can help. */
export const judgeRefusal = (message: string): Refusal => refusalBy[refusalCause(message)]
