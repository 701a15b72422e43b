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
  /** Takes a payment out again, because it can change once more. */
  takeOut(nonce: ChallengeNonce): EndedPayment | undefined
  size(): number
  awaitingCount(): number
  /** At most `count` payments, newest first. */
  page(query: ArchiveQuery, count: number): EndedPayment[]
  snapshot(): ArchiveSnapshot
  /** Payments that await their mint. Finalized payments are skipped without a look at each. */
  awaitingMint(): Iterable<EndedPayment>
}

export function createLedgerArchive(): LedgerArchive {
  const table = createEndedTable()
  const pages = createPages(table)
  const snapshots = createSnapshots(table)
  /** For each slab, how many of its payments await their mint. */
  const awaiting: number[] = []

  function countAwaiting(number: number, change: 1 | -1): void {
    awaiting[slabOf(number)] = (awaiting[slabOf(number)] ?? 0) + change
  }

  return {
    add(payment) {
      const number = table.add(payment, snapshots.keep)
      if (typeof number === 'string') return number === 'known'
      pages.note(number, payment.challenge.issuedAt)
      if (!payment.finalized) countAwaiting(number, 1)
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
      countAwaiting(number, -1)
      return true
    },

    takeOut(nonce) {
      const number = table.numberOf(nonce)
      if (number === undefined) return undefined
      const payment = table.read(number)
      snapshots.keep(number)
      if (!payment.finalized) countAwaiting(number, -1)
      table.takeOut(number)
      return payment
    },

    size: table.size,
    awaitingCount: () => awaiting.reduce((sum, some) => sum + some, 0),
    page: pages.page,
    snapshot: snapshots.take,

    *awaitingMint() {
      for (let number = 0; number < table.count(); number++) {
        const slab = slabOf(number)
        if ((awaiting[slab] ?? 0) === 0) number = (slab + 1) * recordsPerSlab - 1
        else if (table.isAwaiting(number)) yield table.read(number)
      }
    },
  }
}
