/**
 * Snapshots of the archive: each shows the archive of one moment, and may be read bit by bit while payments come and go.
 * Before a record changes, its old content is kept for every snapshot that has not read it yet.
 */
import type { EndedTable } from './ended-table.js'
import type { EndedPayment } from './packing.js'

export type ArchiveSnapshot = Iterable<EndedPayment> & {
  /** Ends the snapshot. Read to its end, a snapshot ends by itself. */
  release(): void
}

type Reading = {
  next: number
  /** The number of records at the moment of the snapshot. */
  readonly count: number
  /** Records that changed before they were read, as they were. Undefined: the payment had been taken out. */
  readonly before: Map<number, EndedPayment | undefined>
}

export type Snapshots = {
  take(): ArchiveSnapshot
  /** Call this before the record of this number changes. */
  keep(number: number): void
}

export function createSnapshots(table: Pick<EndedTable, 'count' | 'isTakenOut' | 'read'>): Snapshots {
  const readings = new Set<Reading>()
  const current = (number: number) => (table.isTakenOut(number) ? undefined : table.read(number))

  function* read(reading: Reading): Generator<EndedPayment> {
    try {
      for (; reading.next < reading.count; reading.next++) {
        const { next, before } = reading
        const payment = before.has(next) ? before.get(next) : current(next)
        if (payment) yield payment
      }
    } finally {
      readings.delete(reading)
    }
  }

  return {
    take() {
      const reading: Reading = { next: 0, count: table.count(), before: new Map() }
      readings.add(reading)
      return {
        [Symbol.iterator]: () => read(reading),
        release() {
          readings.delete(reading)
          reading.before.clear()
        },
      }
    },
    keep(number) {
      for (const { next, count, before } of readings) {
        if (number >= next && number < count && !before.has(number)) before.set(number, current(number))
      }
    },
  }
}
