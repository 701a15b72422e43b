/**
 * Payments that ended, packed in memory. There is one for every payment ever accepted, and as objects they would take
 * four times the memory. ADR 0032 says why they are not in an embedded store.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Finalized } from '../../payment/records.js'
import { createEndedTable } from './ended-table.js'
import type { EndedPayment } from './packing.js'
import { type ArchiveQuery, createPages } from './pages.js'
import { recordsPerSlab, slabOf } from './slabs.js'
import { type ArchiveSnapshot, createSnapshots } from './snapshots.js'

export type LedgerArchive = {
  /** False when a value does not fit into its field: the payment has to stay as it is. A known payment is kept. */
  add(payment: EndedPayment): boolean
  find(nonce: ChallengeNonce): EndedPayment | undefined
  findWithoutMint(nonce: ChallengeNonce): Omit<EndedPayment, 'finalized'> | undefined
  isAwaitingMint(nonce: ChallengeNonce): boolean
  /** Adds the mint of a payment that awaits it. False when a value does not fit. */
  finalize(nonce: ChallengeNonce, finalized: Finalized): boolean
  /** Notes that a sweep took the fee. False when the payment is not here. */
  markSwept(nonce: ChallengeNonce): boolean
  /** Takes a payment out again, because it can change once more. */
  takeOut(nonce: ChallengeNonce): EndedPayment | undefined
  size(): number
  awaitingCount(): number
  /** At most `count` payments, newest first. */
  page(query: ArchiveQuery, count: number): EndedPayment[]
  snapshot(): ArchiveSnapshot
  /** Payments that await their mint. Finalized payments are skipped without a look at each. */
  awaitingMint(): Iterable<EndedPayment>
  /** Finalized payments with a fee that no sweep has taken. Other payments are skipped without a look at each. */
  withOpenFee(): Iterable<EndedPayment>
}

export function createLedgerArchive(): LedgerArchive {
  const table = createEndedTable()
  const pages = createPages(table)
  const snapshots = createSnapshots(table)
  const awaiting = createSlabCounts()
  const openFees = createSlabCounts()

  /** The payments of slabs that hold any, by the count of each slab. */
  function* chosen(counts: SlabCounts, isChosen: (number: number) => boolean): Iterable<EndedPayment> {
    for (let number = 0; number < table.count(); number++) {
      if (!counts.any(number)) number = (slabOf(number) + 1) * recordsPerSlab - 1
      else if (isChosen(number)) yield table.read(number)
    }
  }

  return {
    add(payment) {
      const number = table.add(payment, snapshots.keep)
      if (typeof number === 'string') return number === 'known'
      pages.note(number, payment.challenge.issuedAt)
      if (!payment.finalized) awaiting.change(number, 1)
      if (table.isFeeOpen(number)) openFees.change(number, 1)
      return true
    },

    find(nonce) {
      const number = table.numberOf(nonce)
      return number === undefined ? undefined : table.read(number)
    },

    findWithoutMint(nonce) {
      const number = table.numberOf(nonce)
      return number === undefined ? undefined : table.readWithoutMint(number)
    },

    isAwaitingMint(nonce) {
      const number = table.numberOf(nonce)
      return number !== undefined && table.isAwaiting(number)
    },

    finalize(nonce, finalized) {
      const number = table.numberOf(nonce)
      if (number === undefined || !table.isAwaiting(number)) return false
      snapshots.keep(number)
      if (!table.setMint(number, finalized)) return false
      awaiting.change(number, -1)
      if (table.isFeeOpen(number)) openFees.change(number, 1)
      return true
    },

    markSwept(nonce) {
      const number = table.numberOf(nonce)
      if (number === undefined) return false
      snapshots.keep(number)
      if (table.isFeeOpen(number)) openFees.change(number, -1)
      table.markSwept(number)
      return true
    },

    takeOut(nonce) {
      const number = table.numberOf(nonce)
      if (number === undefined) return undefined
      const payment = table.read(number)
      snapshots.keep(number)
      if (!payment.finalized) awaiting.change(number, -1)
      if (table.isFeeOpen(number)) openFees.change(number, -1)
      table.takeOut(number)
      return payment
    },

    size: table.size,
    awaitingCount: awaiting.sum,
    page: pages.page,
    snapshot: snapshots.take,
    awaitingMint: () => chosen(awaiting, table.isAwaiting),
    withOpenFee: () => chosen(openFees, table.isFeeOpen),
  }
}

type SlabCounts = {
  change(number: number, by: 1 | -1): void
  /** Whether the slab of this number holds any. */
  any(number: number): boolean
  sum(): number
}

/** How many payments of one kind each slab holds. */
function createSlabCounts(): SlabCounts {
  const counts: number[] = []
  return {
    change(number, by) {
      counts[slabOf(number)] = (counts[slabOf(number)] ?? 0) + by
    },
    any: (number) => (counts[slabOf(number)] ?? 0) > 0,
    sum: () => counts.reduce((sum, some) => sum + some, 0),
  }
}
