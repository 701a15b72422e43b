/** The change that each event makes. Applied in order, events give the same state at run time and after a crash. */
import type { BaseUnits, ChallengeNonce } from '@svc-zerc20/protocol'
import type { RecordedTransfer } from '../../payment/books.js'
import type { Accepted, Burn, DoneSweep, Finalized } from '../../payment/records.js'
import type { LedgerEvent } from '../events/events.js'
import type { LedgerDistributions, LedgerSweeps } from '../sweeps/signed-sweeps.js'
import type { LedgerBinding } from './binding.js'
import { awaitedBurnOf, type PaymentRecord } from './payment-record.js'
import type { Payments } from './payments.js'
import type { SignedBurns } from './signed-burns.js'
import type { LedgerTransactions } from './transactions.js'

/** The parts of a ledger's state. */
export type LedgerParts = {
  readonly binding: LedgerBinding
  readonly payments: Payments
  readonly burns: SignedBurns
  readonly mints: LedgerTransactions
  readonly sweeps: LedgerSweeps
  readonly distributions: LedgerDistributions
  readonly demoted: Set<ChallengeNonce>
  readonly unmatched: RecordedTransfer[]
  /** The sum of the fees of payments that were accepted. */
  acceptedFees: bigint
}

type EventNamed<Name extends LedgerEvent['event']> = Extract<LedgerEvent, { event: Name }>

const changes: {
  readonly [Name in LedgerEvent['event']]: (parts: LedgerParts, event: EventNamed<Name>) => void
} = {
  ledger_bound: ({ binding }, event) => binding.bind(event.binding),
  challenge_issued: ({ payments }, { challenge }) => payments.put({ challenge, granted: false }),
  payment_claimed: claim,
  burn_signed: burnSigned,
  claim_released: release,
  payment_accepted: (parts, { nonce, burn, at }) => accept(parts, nonce, { burn, at }),
  payment_demoted: demote,
  burn_moved: moveBurn,
  mint_signed({ binding, payments, mints }, { transaction, nonces }) {
    binding.noteTxNonce(transaction)
    mints.add(
      transaction,
      nonces.filter((nonce) => mayBeMinted(payments, nonce)),
    )
  },
  payment_finalized: finalize,
  burn_late: recordLate,
  burn_unmatched: recordUnmatched,
  grant_used({ payments }, { nonce }) {
    // A record that the disk refused is written again later, perhaps behind a record of the whole payment.
    if (payments.isArchived(nonce)) return
    const payment = payments.liveOf(nonce)
    payment.granted = true
    payments.archiveIfEnded(payment)
  },
  payment_recorded(parts, { challenge, identity, ticketed, burn, at, granted, finalized, swept }) {
    const { payments } = parts
    const claim = { identity, ticketed }
    const ends = { ...(finalized && { finalized }), ...(swept && { swept }) }
    const payment = { challenge, claim, accepted: { burn, at }, granted, ...ends }
    payments.put(payment)
    parts.acceptedFees += feeOf(payment)
    payments.archiveIfEnded(payment)
  },
  sweep_signed: ({ sweeps }, { transaction, recipient, amount, nonces }) =>
    sweeps.sign({ recipient, amount, nonces }, transaction),
  sweep_ended: endSweep,
  sweep_found: (parts, { event: _, nonces, ...done }) => countSweep(parts, nonces, done),
  fees_swept({ payments, sweeps }, { event: _, nonces, ...swept }) {
    sweeps.restore(swept)
    for (const nonce of nonces) payments.markSwept(nonce)
  },
  distribution_signed({ binding, distributions }, { transaction }) {
    binding.noteTxNonce(transaction)
    distributions.sign(transaction)
  },
  distribution_ended: ({ distributions }, { txNonce }) => distributions.end(txNonce),
}

export function applyEvent(parts: LedgerParts, event: LedgerEvent): void {
  const change = changes[event.event] as (parts: LedgerParts, event: LedgerEvent) => void
  change(parts, event)
}

function claim({ payments }: LedgerParts, event: EventNamed<'payment_claimed'>): void {
  const { nonce, identity, ticketed, payload } = event
  const payment = payments.liveOf(nonce)
  if (payment.accepted) return
  const txHash = payload.kind === 'self-transfer' && { txHash: payload.read().burnTxHash }
  payment.claim = { identity, ticketed, payload, ...txHash }
}

function burnSigned({ binding, payments, burns }: LedgerParts, event: EventNamed<'burn_signed'>): void {
  const { transaction } = event
  binding.noteTxNonce(transaction)
  // A transaction with a raised fee may be recorded after some of its burns ended.
  const nonces = event.nonces.filter((nonce) => isUnderWay(payments.live.get(nonce)))
  burns.add(transaction, nonces)
  for (const nonce of nonces) {
    const payment = payments.live.get(nonce)
    if (payment?.claim) payment.claim.txHash = transaction.hash
  }
}

const isUnderWay = (payment: PaymentRecord | undefined) => payment?.claim !== undefined && !payment.accepted

function release(parts: LedgerParts, { nonce }: EventNamed<'claim_released'>): void {
  const payment = parts.payments.live.get(nonce)
  // Journals of older versions may release a payment that was accepted, and had ended, already.
  if (!payment || payment.accepted) return
  delete payment.claim
  delete payment.demoted
  parts.demoted.delete(nonce)
  parts.burns.end(nonce)
  if (!payment.late) parts.mints.end(nonce)
}

function accept(parts: LedgerParts, nonce: ChallengeNonce, accepted: Accepted): void {
  const { payments, burns, demoted } = parts
  const payment = payments.liveOf(nonce)
  if (payment.accepted) return
  const { challenge, claim } = payment
  const { burn } = accepted
  // The claim was released a moment before, so that the burn buys nothing.
  if (!claim) {
    recordLate(parts, { event: 'burn_late', challenge, burn, reason: 'unrecorded' })
    return
  }
  payment.accepted = accepted
  // One that a reorg took back was counted before.
  if (!payment.demoted) parts.acceptedFees += feeOf(payment)
  delete payment.demoted
  demoted.delete(nonce)
  const isKept = claim.payload?.kind === 'permit' && burns.keepAccepted(nonce, burn.txHash)
  if (!isKept) delete claim.payload
  // From now on the burn itself names its transaction.
  delete claim.txHash
  burns.end(nonce)
  forgetDeep(parts, burn.blockNumber)
  payments.archiveIfEnded(payment)
}

const feeOf = ({ challenge: { fee } }: Pick<PaymentRecord, 'challenge'>): bigint => fee?.amount ?? 0n

function forgetDeep({ payments, burns }: LedgerParts, newest: bigint): void {
  const heightOf = (nonce: ChallengeNonce) => payments.liveOf(nonce).accepted?.burn.blockNumber ?? newest
  for (const nonce of burns.letGoDeep(newest, heightOf)) {
    const payment = payments.liveOf(nonce)
    delete payment.claim?.payload
    payments.archiveIfEnded(payment)
  }
}

function demote({ payments, burns, demoted }: LedgerParts, { nonce }: EventNamed<'payment_demoted'>): void {
  const payment = payments.changeable(nonce)
  if (!payment?.accepted || payment.finalized) return
  payment.demoted = payment.accepted
  if (payment.claim) payment.claim.txHash = payment.accepted.burn.txHash
  delete payment.accepted
  demoted.add(nonce)
  burns.takeBack(nonce)
}

function moveBurn({ payments }: LedgerParts, { nonce, burn }: { nonce: ChallengeNonce; burn: Burn }): void {
  const payment = payments.changeable(nonce)
  if (!payment) return
  if (payment.accepted && !payment.finalized) payment.accepted = { ...payment.accepted, burn }
  else if (payment.late && awaitedBurnOf(payment)) payment.late = burn
  payments.archiveIfEnded(payment)
}

function mayBeMinted(payments: Payments, nonce: ChallengeNonce): boolean {
  const payment = payments.live.get(nonce)
  if (!payment) return payments.endedAwaitsMint(nonce)
  // A demoted payment may be accepted again, and its mint sent again.
  return awaitedBurnOf(payment) !== undefined || (!payment.finalized && payment.demoted !== undefined)
}

function finalize({ payments, mints }: LedgerParts, event: EventNamed<'payment_finalized'>): void {
  const { nonce, mint, at, burned } = event
  if (burned !== undefined && isOutgrown(payments, nonce, burned)) return
  const finalized: Finalized = { mint, at }
  mints.end(nonce)
  if (payments.finalizeEnded(nonce, finalized)) return
  const payment = payments.changeable(nonce)
  if (!payment) return
  if (payment.accepted && payment.finalized && payment.late) payment.lateMinted ??= finalized
  else if (payment.accepted ?? payment.late) payment.finalized ??= finalized
}

/** Whether a larger burn has replaced the one that was minted, and still awaits its own mint. */
function isOutgrown(payments: Payments, nonce: ChallengeNonce, burned: BaseUnits): boolean {
  const payment = payments.find(nonce)
  const awaited = payment && awaitedBurnOf(payment)
  return awaited !== undefined && awaited.burn.value > burned
}

function endSweep(parts: LedgerParts, event: EventNamed<'sweep_ended'>): void {
  const { txNonce, txHash, blockNumber = 0n, at } = event
  const sweep = parts.sweeps.end(txNonce)
  if (!sweep || txHash === undefined) return
  const { recipient, amount, nonces } = sweep
  countSweep(parts, nonces, { recipient, amount, txHash, blockNumber, at })
}

function countSweep(
  { payments, sweeps }: LedgerParts,
  nonces: readonly ChallengeNonce[],
  done: Omit<DoneSweep, 'payments'>,
): void {
  for (const nonce of nonces) payments.markSwept(nonce)
  sweeps.count({ ...done, payments: nonces.length })
}

/** Only the largest leaf of an address counts. A larger burn replaces a smaller one, minted or not. */
function recordLate({ payments }: LedgerParts, event: EventNamed<'burn_late'>): void {
  const { challenge, burn, reason } = event
  const payment = payments.reopened(challenge.nonce) ?? { challenge, granted: false }
  payments.put(payment)
  if (payment.late && payment.late.value >= burn.value) return
  payment.late = burn
  delete payment.lateReason
  if (reason) payment.lateReason = reason
  delete payment.lateMinted
  if (!payment.accepted) delete payment.finalized
}

function recordUnmatched({ payments, unmatched }: LedgerParts, event: EventNamed<'burn_unmatched'>): void {
  const { nonce, txHash, reason, at } = event
  // A payment that ended in full is reopened, too: the money is at the same address.
  const payment = payments.reopened(nonce)
  if (!payment || payment.unmatched?.some((known) => known.txHash === txHash)) return
  payment.unmatched = [...(payment.unmatched ?? []), { txHash, reason, at }]
  unmatched.push({ challengeNonce: nonce, txHash, reason, at })
}
