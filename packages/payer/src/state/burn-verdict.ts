/**
 * The answer to whether a burn that was signed happened. It is yes, no, or unknown. Only yes and no end a payment: while the answer
 * is unknown, nothing is signed in the place of the burn, and no money is released.
 */

/** `absent`: no burn exists, and none can come any more. */
export type BurnState = 'burned' | 'absent' | 'unknown'

export type BurnVerdict = {
  readonly state: BurnState
  /**
   * Of a transfer that may still come, its txNonce: of all transfers with one seat only one can be mined. Undefined where it may
   * have taken the seat, and for permits, which have none.
   */
  readonly seat?: string
}

/**
 * What the helper says in one block. The permit's nonce tells nothing: the authorization to burn is not bound to it, so that
 * the allowance of any other permit for this helper, signed before or afterwards, lets the burn come.
 */
export type PermitFacts = {
  readonly way: 'permit'
  readonly isExecuted: boolean
  /** The block's time. Our own clock does not count here. */
  readonly seconds: bigint
  readonly deadline: bigint
}

/** What the account and the burn address have in one block, and a receipt that was asked for afterwards. */
export type TransferFacts = {
  readonly way: 'self-transfer'
  readonly txNonce: number
  readonly amount: bigint
  /** Another transfer of ours with this txNonce counts as spent. */
  readonly isReplaced: boolean
  /** `none` also when the node has removed it, or lags behind. */
  readonly receipt: 'success' | 'reverted' | 'none'
  /** Transactions of the account that are mined, and those that are as deep as no reorg goes. */
  readonly mined: number
  readonly deep: number
  /** What the burn address holds. Nobody can take anything from there. */
  readonly received: bigint
  readonly seat: string
}

/**
 * Seconds that the chain's clock must be past a deadline before the deadline counts. A short reorg could set
 * the clock back.
 */
const settledSeconds = 60n

/** Without facts the chain did not answer. */
export function judgeBurn(facts: PermitFacts | TransferFacts | undefined): BurnVerdict {
  if (facts === undefined) return { state: 'unknown' }
  return facts.way === 'permit' ? judgePermit(facts) : judgeTransfer(facts)
}

function judgePermit({ isExecuted, seconds, deadline }: PermitFacts): BurnVerdict {
  if (isExecuted) return { state: 'burned' }
  return { state: seconds > deadline + settledSeconds ? 'absent' : 'unknown' }
}

function judgeTransfer(facts: TransferFacts): BurnVerdict {
  const { txNonce, amount, isReplaced, receipt, mined, deep, received, seat } = facts
  if (receipt === 'success') return { state: 'burned' }
  if (isReplaced) return { state: 'absent' }
  if (mined <= txNonce) return { state: 'unknown', seat }
  // Receipts are removed by some nodes after a while. The balance of a burn address stays.
  if (receipt === 'none' && received >= amount) return { state: 'burned' }
  // In another block the same transfer may go through, so that its revert counts once no reorg goes as deep.
  return { state: deep > txNonce ? 'absent' : 'unknown' }
}
