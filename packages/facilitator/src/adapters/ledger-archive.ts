/**
 * Payments that ended, packed: there is one for every payment ever accepted, and as objects they would take four
 * times the memory. A record has a fixed size, so a payment is found by its number, and its number by its nonce.
 * What was minted for it is kept apart, because most of a long archive may never be.
 */
import { type Address, type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import type { Finalized } from '../payment/ports.js'
import {
  type EndedPayment,
  endedBytes,
  finalizedBytes,
  mintOffset,
  nonceBytes,
  packEnded,
  packFinalized,
  unpackEnded,
  unpackFinalized,
} from './ledger-packing.js'

export type LedgerArchive = {
  /** False when a number does not fit into its field: the payment has to be kept as it is. */
  add(payment: EndedPayment): boolean
  find(nonce: ChallengeNonce): EndedPayment | undefined
  isAwaitingMint(nonce: ChallengeNonce): boolean
  /** Of a payment that is awaiting its mint. False when a number does not fit. */
  finalize(nonce: ChallengeNonce, finalized: Finalized): boolean
  /** Takes a payment out again: it did not end after all. */
  takeOut(nonce: ChallengeNonce): EndedPayment | undefined
  size(): number
  all(): Iterable<EndedPayment>
  /** What is in it at this moment; it may be read bit by bit while other things are done. */
  snapshot(): Iterable<EndedPayment>
  /** Skips what is finalized without looking at it. */
  awaitingMint(): Iterable<EndedPayment>
}

const recordsPerSlab = 4096
const firstIndexSlots = 1024

/** The last field of a record: the number of its mint, counted from 1, or one of these. */
const noMint = 0
const takenOut = 0xffff_ffff

type Snapshot = { next: number; readonly before: Map<number, EndedPayment | undefined> }

export function createLedgerArchive(): LedgerArchive {
  const records = createSlabs(endedBytes)
  const mints = createSlabs(finalizedBytes)
  const treasuries = createInterned()
  /** For each slab of records, how many of them await their mint. */
  const awaiting: number[] = []
  const gone = new Set<number>()
  /** Open addressing by bytes of the nonce, which are random; holds record numbers from 1 on. */
  let index = new Int32Array(firstIndexSlots)
  /** Snapshots that are being read: where each is, and what has changed that it did not come to yet. */
  const snapshots = new Set<Snapshot>()
  const record = Buffer.alloc(endedBytes)
  const mintRecord = Buffer.alloc(finalizedBytes)

  /** Where the nonce that a record begins with is in the index, or the free place where it belongs. */
  function slotOf(bytes: Buffer, offset: number): number {
    const mask = index.length - 1
    const first = bytes.readUInt32BE(offset) ^ bytes.readUInt32BE(offset + nonceBytes - 4)
    for (let slot = first & mask; ; slot = (slot + 1) & mask) {
      const number = index[slot] ?? 0
      if (number === 0 || records.beginsWith(number - 1, bytes, offset, nonceBytes)) return slot
    }
  }

  function growIndex(): void {
    index = new Int32Array(index.length * 2)
    for (let number = 0; number < records.count(); number++) {
      const { slab, offset } = records.place(number)
      index[slotOf(slab, offset)] = number + 1
    }
  }

  /** Undefined also for a payment that was taken out. */
  function numberOf(nonce: ChallengeNonce): number | undefined {
    record.write(nonce.slice(2), 0, nonceBytes, 'hex')
    const number = (index[slotOf(record, 0)] ?? 0) - 1
    return number === -1 || gone.has(number) ? undefined : number
  }

  function mintOf(number: number): number {
    const { slab, offset } = records.place(number)
    return slab.readUInt32BE(offset + mintOffset)
  }

  function setMint(number: number, mint: number): void {
    const of = Math.floor(number / recordsPerSlab)
    const { slab, offset } = records.place(number)
    const before = mintOf(number) === noMint ? 1 : 0
    awaiting[of] = (awaiting[of] ?? 0) + (mint === noMint ? 1 : 0) - before
    slab.writeUInt32BE(mint, offset + mintOffset)
  }

  function read(number: number): EndedPayment {
    const { slab, offset } = records.place(number)
    const mint = mintOf(number)
    const ended = unpackEnded(slab, offset, treasuries.at)
    if (mint === noMint) return ended
    const place = mints.place(mint - 1)
    return { ...ended, finalized: unpackFinalized(place.slab, place.offset) }
  }

  const readKept = (number: number) => (gone.has(number) ? undefined : read(number))

  function keepForSnapshots(number: number): void {
    for (const { next, before } of snapshots) {
      if (number >= next && !before.has(number)) before.set(number, readKept(number))
    }
  }

  function* readSnapshot(reading: Snapshot, count: number): Iterable<EndedPayment> {
    try {
      for (; reading.next < count; reading.next++) {
        const { next, before } = reading
        const payment = before.has(next) ? before.get(next) : readKept(next)
        if (payment) yield payment
      }
    } finally {
      snapshots.delete(reading)
    }
  }

  return {
    add(payment) {
      const { finalized } = payment
      if (!packEnded(record, payment, treasuries.numberOf(payment.challenge.treasury))) return false
      if (finalized && !packFinalized(mintRecord, finalized)) return false
      if ((records.count() + 1) * 2 > index.length) growIndex()
      const slot = slotOf(record, 0)
      const known = (index[slot] ?? 0) - 1
      if (known !== -1 && !gone.has(known)) return true
      // Not awaiting until its mint is set below, wherever it goes.
      record.writeUInt32BE(takenOut, mintOffset)
      const number = known === -1 ? records.push(record) - 1 : known
      if (known !== -1) {
        keepForSnapshots(known)
        records.overwrite(known, record)
      }
      gone.delete(number)
      index[slot] = number + 1
      setMint(number, finalized ? mints.push(mintRecord) : noMint)
      return true
    },

    find(nonce) {
      const number = numberOf(nonce)
      return number === undefined ? undefined : read(number)
    },

    isAwaitingMint(nonce) {
      const number = numberOf(nonce)
      return number !== undefined && mintOf(number) === noMint
    },

    finalize(nonce, finalized) {
      const number = numberOf(nonce)
      if (number === undefined || !packFinalized(mintRecord, finalized)) return false
      keepForSnapshots(number)
      setMint(number, mints.push(mintRecord))
      return true
    },

    takeOut(nonce) {
      const number = numberOf(nonce)
      if (number === undefined) return undefined
      const payment = read(number)
      keepForSnapshots(number)
      setMint(number, takenOut)
      gone.add(number)
      return payment
    },

    size: () => records.count() - gone.size,

    *all() {
      for (let number = 0; number < records.count(); number++) {
        const payment = readKept(number)
        if (payment) yield payment
      }
    },

    snapshot() {
      const reading: Snapshot = { next: 0, before: new Map() }
      snapshots.add(reading)
      return readSnapshot(reading, records.count())
    },

    *awaitingMint() {
      for (let number = 0; number < records.count(); number++) {
        const slab = Math.floor(number / recordsPerSlab)
        if (awaiting[slab] === 0) number = (slab + 1) * recordsPerSlab - 1
        else if (mintOf(number) === noMint) yield read(number)
      }
    },
  }
}

/** Records of one size, in blocks that are never moved. */
function createSlabs(bytes: number) {
  const slabs: Buffer[] = []
  let count = 0
  const place = (number: number) => {
    const slab = slabs[Math.floor(number / recordsPerSlab)]
    if (!slab) throw new SvcError('invariant', `no record ${number} in the archive`)
    return { slab, offset: (number % recordsPerSlab) * bytes }
  }
  const overwrite = (number: number, record: Buffer) => {
    const { slab, offset } = place(number)
    record.copy(slab, offset)
  }
  return {
    place,
    overwrite,
    count: () => count,
    beginsWith(number: number, other: Buffer, from: number, length: number): boolean {
      const { slab, offset } = place(number)
      return slab.compare(other, from, from + length, offset, offset + length) === 0
    },
    /** Says how many there are now: one more than the number of this one. */
    push(record: Buffer): number {
      if (count % recordsPerSlab === 0) slabs.push(Buffer.alloc(recordsPerSlab * bytes))
      count += 1
      overwrite(count - 1, record)
      return count
    },
  }
}

/** There are as many treasuries as there were configurations: each is kept once. */
function createInterned() {
  const texts: Address[] = []
  return {
    numberOf(text: Address): number {
      const known = texts.indexOf(text)
      return known === -1 ? texts.push(text) - 1 : known
    },
    at: (number: number) => texts[number] as Address,
  }
}
