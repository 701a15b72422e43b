/**
 * A record of the history is one transition of one payment. The records of a payment add up to what the history knows of
 * it (`fold`), and a payment of the ledger tells which records the history still lacks (`newRecords`). Both are plain
 * functions: whatever happened in between, asking again neither loses a record nor doubles one.
 */
import {
  type Address,
  type ChallengeNonce,
  SvcError,
  type UnixSeconds,
  unreachable,
} from '@svc-zerc20/protocol'
import type { RecordedPayment } from '../payment/books.js'
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
const turnsMax = 64

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

/**
 * The records that the payment knows and its history lacks, oldest first. `isOlder` says that the payment comes from a
 * journal that is older than the history: then records are added, and nothing that the history knows is taken back or
 * moved.
 */
export function newRecords(
  known: HistoryPayment | undefined,
  found: RecordedPayment,
  now: UnixSeconds,
  isOlder = false,
): readonly HistoryRecord[] {
  const payment = asAccepted(known, found, isOlder)
  const { challenge } = payment
  const records: HistoryRecord[] = known ? [] : [{ event: 'challenged', challenge }]
  for (const { txHash, reason, at } of payment.unmatched ?? []) {
    if (known?.unmatched.some((each) => each.txHash === txHash)) continue
    records.push({ event: 'unmatched', nonce: challenge.nonce, txHash, reason, at })
  }
  const accepted = newAccepted(known, payment, now, isOlder)
  const late = newLate(known, payment, now, isOlder)
  // A late burn takes the mint of the one before it away, unless the payment was accepted first.
  const isAcceptedFirst = payment.finalized && !isOtherMint(known, payment.finalized)
  records.push(...(isAcceptedFirst ? [...accepted, ...late] : [...late, ...accepted]))
  records.push(...newMints(known, payment, late))
  return records
}

/**
 * A journal that was lost and recovered from the chain calls every burn late, because it does not know what they bought. The
 * history knows. As in the ledger, a burn that is no larger than the accepted one is no second burn.
 */
function asAccepted(
  known: HistoryPayment | undefined,
  payment: RecordedPayment,
  isOlder: boolean,
): RecordedPayment {
  const { late, lateReason: _, lateMinted: __, ...rest } = payment
  const had = known?.accepted
  if (!had || !late || payment.accepted || (payment.demoted && !isOlder)) return payment
  return late.value > had.burn.value ? payment : { ...rest, accepted: { burn: late, at: had.at } }
}

function newAccepted(
  known: HistoryPayment | undefined,
  { challenge, accepted, demoted }: RecordedPayment,
  now: UnixSeconds,
  isOlder: boolean,
): HistoryRecord[] {
  const { nonce } = challenge
  const had = known?.accepted
  const again: HistoryRecord = { event: 'demoted', nonce, at: now }
  if (!accepted) {
    if (!demoted || isOlder) return []
    if (had?.at === demoted.at) return [again]
    // The history missed that the burn came back, and went away once more.
    if (had) return demoted.at > had.at ? [again, { event: 'accepted', nonce, ...demoted }, again] : []
    // The history heard of neither: a payment that was demoted before has both turns already.
    return hasTurn(known, 'accepted') ? [] : [{ event: 'accepted', nonce, ...demoted }, again]
  }
  const acceptance: HistoryRecord = { event: 'accepted', nonce, burn: accepted.burn, at: accepted.at }
  if (!had) return isOlder && hasTurn(known, 'accepted') ? [] : [acceptance]
  if (isOlder || accepted.at < had.at) return []
  // Only a payment that a reorg took back is accepted a second time.
  if (accepted.at > had.at) return [again, acceptance]
  if (isSamePlace(accepted.burn, had.burn)) return []
  return [{ event: 'moved', nonce, of: 'accepted', burn: accepted.burn, at: now }]
}

function newLate(
  known: HistoryPayment | undefined,
  { challenge, late: burn, lateReason: reason = 'late' }: RecordedPayment,
  now: UnixSeconds,
  isOlder: boolean,
): HistoryRecord[] {
  if (!burn) return []
  const { nonce } = challenge
  const had = known?.late?.burn
  // Of a payment from before the history nobody knows when the burn came. Late is after the end of the challenge.
  const at = known || challenge.expiresAt > now ? now : challenge.expiresAt
  if (!had || burn.value > had.value) return [{ event: 'late', nonce, burn, reason, at }]
  if (isOlder || isSamePlace(burn, had)) return []
  return [{ event: 'moved', nonce, of: 'late', burn, at: now }]
}

function newMints(
  known: HistoryPayment | undefined,
  { challenge, accepted, finalized: mint, lateMinted }: RecordedPayment,
  lateBurns: readonly HistoryRecord[],
): HistoryRecord[] {
  const { nonce } = challenge
  const isLateNew = lateBurns.some(({ event }) => event === 'late')
  const isReplaced = ({ mint: { txHash }, at }: Finalized) =>
    known?.mintedBefore?.some((each) => each.at === at && each.mint.txHash === txHash) ?? false
  const records: HistoryRecord[] = []
  // A new late burn has no mint yet in the history, whatever the burn before it had.
  const isTaken = isLateNew && (!accepted || (mint && isOtherMint(known, mint)))
  const has = isTaken ? undefined : known?.finalized
  if (mint && !has && !isReplaced(mint)) {
    records.push({ event: 'finalized', nonce, of: accepted ? 'accepted' : 'late', ...mint })
  }
  const hasLate = isLateNew ? undefined : known?.lateMinted
  if (accepted && lateMinted && !hasLate && !isReplaced(lateMinted)) {
    records.push({ event: 'finalized', nonce, of: 'late', ...lateMinted })
  }
  return records
}

/** Whether the history has a mint that is not this one. */
const isOtherMint = (known: HistoryPayment | undefined, { at, mint }: Finalized): boolean =>
  known?.finalized !== undefined && (known.finalized.at !== at || known.finalized.mint.txHash !== mint.txHash)

const hasTurn = (known: HistoryPayment | undefined, kind: RecordKind): boolean =>
  known?.turns.some((turn) => turn.kind === kind) ?? false

/** Whether a burn is where it was: a reorg may have put it into another block, to another leaf, or sent it anew. */
const isSamePlace = (a: Burn, b: Burn): boolean =>
  a.txHash === b.txHash && a.blockHash === b.blockHash && a.leafIndex === b.leafIndex
