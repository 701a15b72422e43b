/**
 * Compares a payment of the ledger with its history. A plain function: whatever happened in between, asking again neither
 * loses a record nor doubles one.
 */
import type { Address, UnixSeconds } from '@svc-zerc20/protocol'
import type { RecordedPayment } from '../payment/books.js'
import type { Burn, Finalized } from '../payment/records.js'
import { type HistoryPayment, payerOf, type RecordKind } from './payment.js'
import type { HistoryRecord } from './record.js'

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
  const demotion: HistoryRecord = { event: 'demoted', nonce, at: now }
  if (!accepted) {
    if (!demoted || isOlder) return []
    if (had?.at === demoted.at) return [demotion]
    // The history missed that the burn came back, and went away once more.
    if (had) return demoted.at > had.at ? [demotion, { event: 'accepted', nonce, ...demoted }, demotion] : []
    // The history heard of neither: a payment that was demoted before has both turns already.
    return hasTurn(known, 'accepted') ? [] : [{ event: 'accepted', nonce, ...demoted }, demotion]
  }
  const acceptance: HistoryRecord = { event: 'accepted', nonce, burn: accepted.burn, at: accepted.at }
  if (!had) return isOlder && hasTurn(known, 'accepted') ? [] : [acceptance]
  if (isOlder || accepted.at < had.at) return []
  // Only a payment that a reorg took back is accepted a second time.
  if (accepted.at > had.at) return [demotion, acceptance]
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
  // Never a time before the burn: its payer is told of the mint as of a day behind this time, and knows when it burned.
  if (!had || burn.value > had.value) return [{ event: 'late', nonce, burn, reason, at: now }]
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

/** The payer lets the provider see it. Nothing for a payment that is unknown, disclosed, or of another payer. */
export function newDisclosure(
  known: HistoryPayment | undefined,
  payer: Address,
  at: UnixSeconds,
): readonly HistoryRecord[] {
  if (!known || known.disclosedAt !== undefined || payerOf(known) !== payer) return []
  return [{ event: 'disclosed', nonce: known.challenge.nonce, payer, at }]
}
