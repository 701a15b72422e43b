/** A payment as the history knows it: the sum of its records. */
import type { BaseUnits, UnixSeconds } from '@svc-zerc20/protocol'
import type { Accepted, Burn, Challenge, Finalized, LateReason, UnmatchedBurn } from '../payment/records.js'

/** One kind for every transition of a payment. */
export const recordKinds = [
  'challenged',
  'accepted',
  /** A reorg took the accepted burn away. */
  'demoted',
  /** A reorg put the burn into another block, or into another transaction. */
  'moved',
  'finalized',
  'late',
  'unmatched',
  /** The payer let the provider see its address and its burn. */
  'disclosed',
] as const
export type RecordKind = (typeof recordKinds)[number]

/** The phase without a clock. A challenge that was never paid counts as expired once its time is over. */
export const historyPhases = ['challenged', 'accepted', 'finalized', 'late'] as const
export type HistoryPhase = (typeof historyPhases)[number]

export type LateBurn = { readonly burn: Burn; readonly reason: LateReason; readonly at: UnixSeconds }

export type HistoryPayment = {
  readonly challenge: Challenge
  readonly accepted?: Accepted
  readonly late?: LateBurn
  /** The mint of the accepted burn; of the late burn where none was accepted. */
  readonly finalized?: Finalized
  /** The mint of the late burn beside an accepted one. */
  readonly lateMinted?: Finalized
  /** Mints of late burns that a larger one has replaced since. The larger one is minted for the difference. */
  readonly mintedBefore?: readonly Finalized[]
  readonly unmatched: readonly UnmatchedBurn[]
  readonly disclosedAt?: UnixSeconds
  /** The payment's records, oldest first; of very many, the first one and the newest. */
  readonly turns: readonly Turn[]
}

export type Turn = { readonly seq: number; readonly kind: RecordKind; readonly at: UnixSeconds }

/** Whether the payment has the turn of this line. */
export const hasTurnOf = (payment: HistoryPayment | undefined, { seq, kind }: Omit<Turn, 'at'>): boolean =>
  payment?.turns.some((turn) => turn.seq === seq && turn.kind === kind) ?? false

export function phaseOf({ accepted, late, finalized }: HistoryPayment): HistoryPhase {
  if (finalized) return 'finalized'
  if (accepted) return 'accepted'
  return late ? 'late' : 'challenged'
}

/** The time that a payment is listed under: when its money came, and before that when it was issued. */
export const timeOf = ({ challenge, accepted, late }: HistoryPayment): UnixSeconds =>
  accepted?.at ?? late?.at ?? challenge.issuedAt

/** The amount that a payment is listed under: what came, and before that what was asked. */
export const amountOf = ({ challenge, accepted, late }: HistoryPayment): BaseUnits =>
  accepted?.burn.value ?? late?.burn.value ?? challenge.amount

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

/** The account whose tokens were burned. Undefined before a burn is known. */
export const payerOf = ({ accepted, late }: HistoryPayment) => accepted?.burn.from ?? late?.burn.from
