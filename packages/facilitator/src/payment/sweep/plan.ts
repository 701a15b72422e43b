/** Chooses the next sweep from the fees that are due. */
import type { Address, BaseUnits } from '@svc-zerc20/protocol'
import type { Sweep } from '../records.js'
import type { DueFee } from './due.js'

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

export type FeeSum = { readonly payments: number; readonly amount: BaseUnits; readonly oldestAt?: number }

/** The fees of one recipient, and the oldest of them, no more than fit into a sweep. */
export type RecipientDue = FeeSum & {
  readonly sweep: Sweep
  /** The fees of that sweep, oldest first. */
  readonly oldest: readonly DueFee[]
  /** No earlier block can hold a sweep of any of these fees. */
  readonly fromBlock: bigint
}

/** Sums up fees by recipient. Only fees at the treasury count; the others are summed up beside them. */
export async function gatherDue(
  fees: AsyncIterable<DueFee>,
  { treasury, paymentsMax }: SweepTerms,
): Promise<{ readonly due: readonly RecipientDue[]; readonly elsewhere: FeeSum }> {
  const byRecipient = new Map<Address, Gathered>()
  const elsewhere = { payments: 0, amount: 0n }
  for await (const fee of fees) {
    if (fee.treasury === treasury) {
      const gathered = byRecipient.get(fee.recipient) ?? gatheredFrom(fee)
      byRecipient.set(fee.recipient, gathered)
      gather(gathered, fee, paymentsMax)
    } else {
      elsewhere.payments += 1
      elsewhere.amount += fee.amount
    }
  }
  const due = [...byRecipient].map(([recipient, { amount, ...gathered }]): RecipientDue => {
    return { ...gathered, amount: amount as BaseUnits, sweep: sweepOf(recipient, gathered.oldest) }
  })
  return { due, elsewhere: { ...elsewhere, amount: elsewhere.amount as BaseUnits } }
}

type Gathered = {
  payments: number
  amount: bigint
  oldestAt: number
  fromBlock: bigint
  readonly oldest: DueFee[]
}

const gatheredFrom = ({ since, fromBlock }: DueFee): Gathered => ({
  payments: 0,
  amount: 0n,
  oldestAt: since,
  fromBlock,
  oldest: [],
})

function gather(gathered: Gathered, fee: DueFee, paymentsMax: number): void {
  gathered.payments += 1
  gathered.amount += fee.amount
  gathered.oldestAt = Math.min(gathered.oldestAt, fee.since)
  if (fee.fromBlock < gathered.fromBlock) gathered.fromBlock = fee.fromBlock
  insertOldest(gathered.oldest, fee, paymentsMax)
}

/** Keeps the list sorted by age. Fees come about oldest first, so that most go to the end. */
function insertOldest(oldest: DueFee[], fee: DueFee, countMax: number): void {
  const place = oldest.findLastIndex((earlier) => earlier.since <= fee.since) + 1
  if (place >= countMax) return
  oldest.splice(place, 0, fee)
  if (oldest.length > countMax) oldest.pop()
}

export const sweepOf = (recipient: Address, fees: readonly DueFee[]): Sweep => ({
  recipient,
  amount: fees.reduce((sum, { amount }) => sum + amount, 0n) as BaseUnits,
  challengeNonces: fees.map(({ nonce }) => nonce),
})

/**
 * The fees that are to be swept now: those of the recipient that waits longest. `isHurried`: an operator asked, so that no
 * time counts.
 */
export function planSweep(
  due: readonly RecipientDue[],
  { minAmount, intervalMs, paymentsMax }: SweepTerms,
  { nowMs, isHurried = false }: { readonly nowMs: number; readonly isHurried?: boolean },
): RecipientDue | NoSweep {
  if (due.length === 0) return 'nothing_due'
  const large = due.filter(({ sweep }) => sweep.amount >= minAmount)
  if (large.length === 0) return 'too_little'
  const isRipe = ({ oldestAt = 0, payments }: RecipientDue) =>
    isHurried || payments >= paymentsMax || nowMs - oldestAt * 1000 >= intervalMs
  const [first] = large.filter(isRipe).toSorted((a, b) => (a.oldestAt ?? 0) - (b.oldestAt ?? 0))
  return first ?? 'too_young'
}

/** The oldest fees that a transfer of this value pays, the last one perhaps in part: the rest of it is forgone. */
export function coveredBy(value: bigint, fees: readonly DueFee[]): readonly DueFee[] {
  let sum = 0n
  return fees.filter(({ amount }) => {
    const isCovered = sum < value
    sum += amount
    return isCovered
  })
}
