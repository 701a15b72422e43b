/** The state of a ledger: the sum of its events. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { RecordedTransfer } from '../../payment/books.js'
import type { Challenge } from '../../payment/records.js'
import type { ArchiveQuery } from '../archive/pages.js'
import type { ArchiveSnapshot } from '../archive/snapshots.js'
import type { Binding, LedgerEvent } from '../events/events.js'
import {
  createLedgerDistributions,
  createLedgerSweeps,
  type LedgerDistributions,
  type LedgerSweeps,
} from '../sweeps/signed-sweeps.js'
import { applyEvent, type LedgerParts } from './apply.js'
import { createLedgerBinding } from './binding.js'
import { endingsOf, eventsOf, listed, type PaymentRecord } from './payment-record.js'
import { createPayments } from './payments.js'
import { createSignedBurns, type KeepSigned } from './signed-burns.js'
import { createLedgerTransactions, type Outstanding } from './transactions.js'

export type LedgerState = {
  /** Undefined in a new journal. */
  binding(): Binding | undefined
  find(nonce: ChallengeNonce): Readonly<PaymentRecord> | undefined
  /** Finds a payment without looking at its mint, so that the time taken does not tell whether there is one. */
  findWithoutMint(nonce: ChallengeNonce): Readonly<Omit<PaymentRecord, 'finalized'>> | undefined
  /** Payments that can still change: not accepted, or with an open grant. */
  live(): Iterable<Readonly<PaymentRecord>>
  /** The challenges of all payments. The list may be read bit by bit while the state moves on. */
  challenges(): Iterable<Challenge>
  /** The newest ended payments that the query asks for, at most `count`. */
  endedPage(query: ArchiveQuery, count: number): Readonly<PaymentRecord>[]
  endedCounts(): { readonly accepted: number; readonly finalized: number }
  /** The ended payments of this moment. They may be read bit by bit while the state moves on, until they are released. */
  endedSnapshot(): ArchiveSnapshot
  /** Transfers that cover nothing, in the order of their records. */
  unmatched(): readonly RecordedTransfer[]
  size(): number
  /** Fees of all payments that were accepted. */
  acceptedFees(): bigint
  apply(event: LedgerEvent): void
  /** Forgets a challenge without a claim, a late burn or another transfer. */
  forget(nonce: ChallengeNonce): void
  /** Transactions that hold accepted burns which a reorg could still take back. */
  shallow(): Outstanding[]
  /** Transactions that carry burns which have not ended. */
  outstanding(): Outstanding[]
  /** Transactions that carry mints which are not confirmed. */
  outstandingMints(): Outstanding[]
  /** Payments with a burn that is not minted yet. Finalized payments cost nothing here. */
  awaitingMint(): Iterable<Readonly<PaymentRecord>>
  demoted(): Iterable<Readonly<PaymentRecord>>
  /** Payments whose fee is due, and that no sweep has taken or is about to take. */
  withDueFee(): Iterable<Readonly<PaymentRecord>>
  readonly sweeps: Pick<LedgerSweeps, 'open' | 'isUnderWay' | 'swept'>
  readonly distributions: Pick<LedgerDistributions, 'open'>
  /**
   * The shortest list of events that gives the state of this moment. Ask for `events` at once or never. The list may be
   * read bit by bit while the state moves on, until it is released.
   */
  shortest(): {
    readonly count: number
    events(): Iterable<LedgerEvent>
    release(): void
  }
  /** The newest such list has become the journal. */
  noteWrittenAnew(): void
}

export function createLedgerState(keep: KeepSigned = { blocks: 0, paymentsMax: 0 }): LedgerState {
  const burns = createSignedBurns(keep)
  const parts: LedgerParts = {
    binding: createLedgerBinding(),
    payments: createPayments(burns.isShallow),
    burns,
    mints: createLedgerTransactions(),
    sweeps: createLedgerSweeps(),
    distributions: createLedgerDistributions(),
    demoted: new Set(),
    unmatched: [],
    acceptedFees: 0n,
  }
  const { binding, payments, mints, demoted, unmatched, sweeps, distributions } = parts
  return {
    binding: binding.current,
    find: payments.find,
    findWithoutMint: payments.findWithoutMint,
    live: () => payments.live.values(),
    challenges: payments.challenges,
    endedPage: payments.endedPage,
    endedCounts: payments.endedCounts,
    endedSnapshot: payments.endedSnapshot,
    unmatched: () => unmatched,
    size: () => payments.live.size + payments.endedSize(),
    acceptedFees: () => parts.acceptedFees,
    apply: (event) => applyEvent(parts, event),
    forget: payments.forget,
    shallow: burns.shallow,
    outstanding: burns.outstanding,
    outstandingMints: mints.all,
    awaitingMint: payments.awaitingMint,
    *demoted() {
      for (const nonce of demoted) yield payments.liveOf(nonce)
    },
    *withDueFee() {
      for (const payment of payments.withDueFee()) {
        if (!sweeps.isUnderWay(payment.challenge.nonce)) yield payment
      }
    },
    sweeps,
    distributions,
    shortest: () => shortestOf(parts),
    noteWrittenAnew: binding.noteWrittenAnew,
  }
}

function shortestOf(parts: LedgerParts): ReturnType<LedgerState['shortest']> {
  const { binding, payments, burns, mints } = parts
  const live: LedgerEvent[] = []
  for (const payment of payments.live.values()) live.push(...eventsOf(payment))
  for (const { transaction, nonces } of [...burns.shallow(), ...burns.outstanding()]) {
    live.push({ event: 'burn_signed', nonces: [...nonces], transaction })
  }
  // Endings come behind the transactions, which count only for burns that are under way.
  for (const payment of payments.live.values()) live.push(...endingsOf(payment))
  for (const { transaction, nonces } of mints.all()) {
    live.push({ event: 'mint_signed', nonces: [...nonces], transaction })
  }
  live.push(...sweepsOf(parts))
  const next = binding.writtenAnew()
  const bound: LedgerEvent[] = next ? [{ event: 'ledger_bound', binding: next }] : []
  let snapshot: ArchiveSnapshot | undefined
  return {
    count: bound.length + payments.endedSize() + live.length,
    events() {
      snapshot = payments.endedSnapshot()
      return listed(bound, snapshot, live)
    },
    release: () => snapshot?.release(),
  }
}

/** Swept payments in the archive have their mark in their own record. */
function* sweepsOf({ payments, sweeps, distributions }: LedgerParts): Iterable<LedgerEvent> {
  const swept = sweeps.swept()
  if (swept.sweeps > 0) {
    const marked = [...payments.live.values()].filter((payment) => payment.swept)
    yield { event: 'fees_swept', ...swept, nonces: marked.map(({ challenge }) => challenge.nonce) }
  }
  for (const { transactions, ...sweep } of sweeps.open()) {
    for (const transaction of transactions) yield { event: 'sweep_signed', ...sweep, transaction }
  }
  for (const transaction of distributions.open().flat()) yield { event: 'distribution_signed', transaction }
}
