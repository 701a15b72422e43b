/**
 * A record of the history is one transition of one payment. The records of a payment add up to what the history knows of
 * it (`fold`). Which ones are still missing is said by `newRecords`.
 */
import {
  type Address,
  type ChallengeNonce,
  SvcError,
  type UnixSeconds,
  unreachable,
} from '@svc-zerc20/protocol'
import type { Accepted, Burn, Challenge, Finalized, LateReason, UnmatchedBurn } from '../payment/records.js'
import { type HistoryPayment, type LateBurn, payerOf, type RecordKind, type Turn } from './payment.js'

/** The burn of a payment that a record speaks of: the one that bought something, or the late one. */
export const burnRoles = ['accepted', 'late'] as const
export type BurnRole = (typeof burnRoles)[number]

type RecordOf<Kind extends RecordKind, Fields> = { readonly event: Kind } & Fields
type Named = { readonly nonce: ChallengeNonce }

export type HistoryRecord =
  | RecordOf<'challenged', { readonly challenge: Challenge }>
  | RecordOf<'accepted', Named & Accepted>
  | RecordOf<'demoted', Named & { readonly at: UnixSeconds }>
  | RecordOf<'moved', Named & { readonly of: BurnRole; readonly burn: Burn; readonly at: UnixSeconds }>
  | RecordOf<'finalized', Named & { readonly of: BurnRole } & Finalized>
  /**
   * `at` is when the history heard of the burn: the ledger keeps no time of it. It never depends on the mint, whose second
   * payers must not learn.
   */
  | RecordOf<'late', Named & { readonly burn: Burn; readonly reason: LateReason; readonly at: UnixSeconds }>
  | RecordOf<'unmatched', Named & UnmatchedBurn>
  /** By the account that had burned then. It speaks for itself and for no other account that pays the same address. */
  | RecordOf<'disclosed', Named & { readonly payer: Address; readonly at: UnixSeconds }>

/** Turns that a payment keeps, mints beside them. A payment has about four; only a payer that sends again and again makes more. */
export const turnsMax = 64

/** A record, and the number of its line. */
export type NumberedRecord = { readonly seq: number; readonly record: HistoryRecord }

export const nonceIn = (record: HistoryRecord): ChallengeNonce =>
  record.event === 'challenged' ? record.challenge.nonce : record.nonce

const timeIn = (record: HistoryRecord): UnixSeconds =>
  record.event === 'challenged' ? record.challenge.issuedAt : record.at

/** The payment with one record more. Throws when the record's payment was never begun: the file lacks lines. */
export function fold(known: HistoryPayment | undefined, record: HistoryRecord, seq: number): HistoryPayment {
  const payment = withoutForeignLeave(known, changed(known, record))
  const turn = { seq, kind: record.event, at: timeIn(record) }
  return { ...payment, turns: [...withRoomFor(turn, payment.turns), turn] }
}

/**
 * The turns without the oldest one, where there are too many; never without the first of all. A mint makes room among mints
 * only: if it pushed out another turn, a payer that has made very many turns would see it come.
 */
function withRoomFor({ kind }: Turn, turns: readonly Turn[]): readonly Turn[] {
  const isMint = kind === 'finalized'
  const alike = turns.filter((turn) => (turn.kind === 'finalized') === isMint)
  if (alike.length < turnsMax) return turns
  // That a payment was accepted is never forgotten: it tells a loss that is recorded from one that is new.
  const oldest = alike.find((turn) => turn !== turns[0] && turn.kind !== 'accepted')
  return turns.filter((turn) => turn !== oldest)
}

function changed(known: HistoryPayment | undefined, record: HistoryRecord): HistoryPayment {
  if (record.event === 'challenged') {
    return known ?? { challenge: record.challenge, unmatched: [], turns: [] }
  }
  if (!known) {
    throw new SvcError(
      'history_corrupt',
      `a ${record.event} record of ${record.nonce} comes before its challenge`,
    )
  }
  switch (record.event) {
    case 'accepted':
      return { ...known, accepted: { burn: record.burn, at: record.at } }
    case 'demoted': {
      const { accepted: _, ...rest } = known
      return rest
    }
    case 'moved':
      return moved(known, record.of, record.burn)
    case 'finalized':
      return finalized(known, record.of, { mint: record.mint, at: record.at })
    case 'late':
      return late(known, { burn: record.burn, reason: record.reason, at: record.at })
    case 'unmatched': {
      const { txHash, reason, at } = record
      return { ...known, unmatched: [...known.unmatched, { txHash, reason, at }] }
    }
    case 'disclosed':
      if (payerOf(known) !== record.payer) return known
      return { ...known, disclosedAt: known.disclosedAt ?? record.at }
    default:
      return unreachable(record)
  }
}

/** A reorg or a larger burn can put another account into the place of the payer. That one has disclosed nothing. */
function withoutForeignLeave(known: HistoryPayment | undefined, payment: HistoryPayment): HistoryPayment {
  if (!known || payerOf(known) === payerOf(payment)) return payment
  const { disclosedAt: _, ...rest } = payment
  return rest
}

function moved(known: HistoryPayment, of: BurnRole, burn: Burn): HistoryPayment {
  if (of === 'late') return known.late ? { ...known, late: { ...known.late, burn } } : known
  return known.accepted ? { ...known, accepted: { ...known.accepted, burn } } : known
}

function finalized(known: HistoryPayment, of: BurnRole, mint: Finalized): HistoryPayment {
  return of === 'late' && known.accepted ? { ...known, lateMinted: mint } : { ...known, finalized: mint }
}

/** A larger burn takes the place of a smaller one, and awaits a mint of its own. */
function late(known: HistoryPayment, burn: LateBurn): HistoryPayment {
  const { lateMinted, ...rest } = known
  const { finalized: minted, ...unminted } = rest
  const replaced = known.accepted ? lateMinted : minted
  const before = replaced ? { mintedBefore: [...(known.mintedBefore ?? []), replaced] } : {}
  return { ...(known.accepted ? rest : unminted), ...before, late: burn }
}
