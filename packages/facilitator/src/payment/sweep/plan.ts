/** Chooses the next sweep from the fees that are due. */
import type { Address, BaseUnits, ChallengeNonce } from '@svc-zerc20/protocol'
import type { Sweep } from '../records.js'

export type SweepTerms = {
  /** The account that sweeps. Fees that were minted to another account are not here. */
  readonly treasury: Address
  /** A smaller sum is not worth the gas of its transfer. */
  readonly minAmount: bigint
  /** How long the oldest fee waits for company before it is swept. */
  readonly intervalMs: number
  /** A sweep of this many payments is full, and waits no longer. */
  readonly paymentsMax: number
}

/** `nothing_due`: no fee waits. `too_little`: the sum is below the least amount. `too_young`: the interval has not passed. */
export type NoSweep = 'nothing_due' | 'too_little' | 'too_young'

export type FeeSum = { readonly payments: number; readonly amount: BaseUnits }

/** The fees of one recipient. */
export type RecipientDue = FeeSum & {
  readonly recipient: Address
  /** The payment of the oldest is finalized since this second. */
  readonly oldestAt: number
  /** No earlier block can hold a sweep of any of these fees. */
  readonly fromBlock: bigint
  /** The fees that have been due for longest, oldest first, no more than fit into a sweep. */
  readonly oldest: readonly { readonly nonce: ChallengeNonce; readonly amount: BaseUnits }[]
}

/** Fees that no sweep has taken or is about to take. */
export type FeesDue = {
  readonly due: readonly RecipientDue[]
  /** Fees that were minted to another account than the treasury. */
  readonly elsewhere: FeeSum
}

export const sweepOf = ({ recipient, oldest }: Pick<RecipientDue, 'recipient' | 'oldest'>): Sweep => ({
  recipient,
  amount: oldest.reduce((sum, { amount }) => sum + amount, 0n) as BaseUnits,
  challengeNonces: oldest.map(({ nonce }) => nonce),
})

/**
 * The fees that are to be swept now: those of the recipient that waits longest. `isHurried`: an operator asked, so nothing
 * waits for the interval.
 */
export function planSweep(
  due: readonly RecipientDue[],
  { minAmount, intervalMs, paymentsMax }: SweepTerms,
  { nowMs, isHurried = false }: { readonly nowMs: number; readonly isHurried?: boolean },
): RecipientDue | NoSweep {
  if (due.length === 0) return 'nothing_due'
  const large = due.filter((fees) => sweepOf(fees).amount >= minAmount)
  if (large.length === 0) return 'too_little'
  const isRipe = ({ oldestAt, payments }: RecipientDue) =>
    isHurried || payments >= paymentsMax || nowMs - oldestAt * 1000 >= intervalMs
  const [first] = large.filter(isRipe).toSorted((a, b) => a.oldestAt - b.oldestAt)
  return first ?? 'too_young'
}

/** The oldest fees that a transfer of this value pays, the last one perhaps in part: the rest of it is forgone. */
export function coveredBy(value: bigint, fees: RecipientDue['oldest']): RecipientDue['oldest'] {
  let sum = 0n
  return fees.filter(({ amount }) => {
    const isCovered = sum < value
    sum += amount
    return isCovered
  })
}
