/** A payment as the history tells it, with its turns. */
import type { UnixSeconds } from '@svc-zerc20/protocol'
import type { Finalized, RecordedPayment } from '../payment/records.js'
import type { EventName } from '../store/events.js'

/** The turns that a history tells, by the event that makes them. */
const kinds = {
  challenge_issued: 'challenged',
  payment_accepted: 'accepted',
  /** A reorg took the accepted burn away. */
  payment_demoted: 'demoted',
  /** A reorg put the burn into another block, or into another transaction. */
  burn_moved: 'moved',
  payment_finalized: 'finalized',
  burn_late: 'late',
  burn_unmatched: 'unmatched',
  /** The payer let the provider see its address and its burn. */
  payment_disclosed: 'disclosed',
} as const satisfies Partial<Record<EventName, string>>
export type RecordKind = (typeof kinds)[keyof typeof kinds]
export const recordKinds = Object.values(kinds)
export const kindOf: Partial<Record<EventName, RecordKind>> = kinds

/** The phase without a clock. A challenge that was never paid counts as expired once its time is over. */
export const historyPhases = ['challenged', 'accepted', 'finalized', 'late'] as const
export type HistoryPhase = (typeof historyPhases)[number]

export type HistoryPayment = RecordedPayment & {
  /** The turns of the payment, oldest first. */
  readonly turns: readonly HistoryTurn[]
}

export type HistoryTurn = { readonly seq: number; readonly kind: RecordKind; readonly at: UnixSeconds }

export function phaseOf({ accepted, late, finalized }: HistoryPayment): HistoryPhase {
  if (finalized) return 'finalized'
  if (accepted) return 'accepted'
  return late ? 'late' : 'challenged'
}

/** Every mint of the payment. Their values add up to what the chain minted for it. */
export const mintsOf = ({
  finalized,
  lateMinted,
  mintedBefore = [],
}: HistoryPayment): readonly Finalized[] => [
  ...mintedBefore,
  ...(finalized ? [finalized] : []),
  ...(lateMinted ? [lateMinted] : []),
]

export const secondsPerDay = 86_400

/**
 * The second that stands for a mint wherever only its day is told: at least a day behind the burn. A payer that burned two
 * minutes before midnight, and heard that the mint came on that day, would know the minute.
 */
export const toldFinalityAt = (burnedAt: number, finalizedAt: number): UnixSeconds =>
  Math.max(finalizedAt, burnedAt + secondsPerDay) as UnixSeconds
