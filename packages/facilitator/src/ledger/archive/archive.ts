/**
 * Payments that ended, packed: there is one for every payment ever accepted, and as objects they would take four
 * times the memory. A record has a fixed size, so a payment is found by its number, and its number by its nonce.
 * What was minted for it is kept apart, because most of a long archive may never be.
 */
import { type Address, type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import type { Finalized } from '../../payment/records.js'
import {
  type EndedPayment,
  endedBytes,
  finalizedBytes,
  issuedAtIn,
  mintOffset,
  nonceBytes,
  packEnded,
  packFinalized,
  unpackEnded,
  unpackFinalized,
} from './packing.js'

export type ArchiveQuery = {
  /** Bounds of `issuedAt` in unix seconds: from, and up to but without. */
  readonly since: number
  readonly until: number
  /** Only what comes after this place in the order of pages. */
  readonly after?: { readonly issuedAt: number; readonly nonce: ChallengeNonce } | undefined
  /** Only those that are, or are not, finalized. */
  readonly isFinalized?: boolean | undefined
}

export type ArchiveSnapshot = Iterable<EndedPayment> & {
  /** Until then, or until it is read to its end, whatever changes is kept for it as it was. */
  release(): void
}

export type LedgerArchive = {
  /** False when a number does not fit into its field: the payment has to be kept as it is. */
  add(payment: EndedPayment): boolean
  find(nonce: ChallengeNonce): EndedPayment | undefined
  findWithoutMint(nonce: ChallengeNonce): Omit<EndedPayment, 'finalized'> | undefined
  isAwaitingMint(nonce: ChallengeNonce): boolean
  /** Of a payment that is awaiting its mint. False when a number does not fit. */
  finalize(nonce: ChallengeNonce, finalized: Finalized): boolean
  /** Takes a payment out again: it did not end after all. */
  takeOut(nonce: ChallengeNonce): EndedPayment | undefined
  size(): number
  awaitingCount(): number
  /** Newest first; unpacks nothing but what it returns. */
  page(query: ArchiveQuery, count: number): EndedPayment[]
  /** What is in it at this moment; it may be read bit by bit while other things are done. */
  snapshot(): ArchiveSnapshot
  /** Skips what is finalized without looking at it. */
  awaitingMint(): Iterable<EndedPayment>
}

const recordsPerSlab = 4096
const firstIndexSlots = 1024

/** The last field of a record: the number of its mint, counted from 1, or one of these. */
const noMint = 0
const takenOut = 0xffff_ffff

type Snapshot = {
  next: number
  /** How many records there were: what came later is none of its business. */
  readonly count: number
  readonly before: Map<number, EndedPayment | undefined>
}

export function createLedgerArchive(): LedgerArchive {
  const records = createSlabs(endedBytes)
  const mints = createSlabs(finalizedBytes)
  const treasuries = createInterned()
  /** For each slab of records, how many of them await their mint. */
  const awaiting: number[] = []
  /** For each slab of records, when the first and the last of them were issued. */
  const spans: { first: number; last: number }[] = []
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

  function widenSpan(number: number, issuedAt: number): void {
    const slab = Math.floor(number / recordsPerSlab)
    const { first, last } = spans[slab] ?? { first: issuedAt, last: issuedAt }
    spans[slab] = { first: Math.min(first, issuedAt), last: Math.max(last, issuedAt) }
  }

  const placeOf = (number: number): Place => {
    const { slab, offset } = records.place(number)
    return { number, slab, offset, issuedAt: issuedAtIn(slab, offset) }
  }

  /** Those records of a slab that a query asks for. */
  function* matching(of: number, query: ArchiveQuery, after: Buffer | undefined): Iterable<Place> {
    const end = Math.min(records.count(), (of + 1) * recordsPerSlab)
    for (let number = of * recordsPerSlab; number < end; number++) {
      if (gone.has(number)) continue
      const place = placeOf(number)
      const { issuedAt, slab, offset } = place
      if (issuedAt < query.since || issuedAt >= query.until) continue
      if (query.isFinalized !== undefined && (mintOf(number) !== noMint) !== query.isFinalized) continue
      if (after && query.after) {
        if (issuedAt > query.after.issuedAt) continue
        const isTie = issuedAt === query.after.issuedAt
        if (isTie && slab.compare(after, 0, nonceBytes, offset, offset + nonceBytes) >= 0) continue
      }
      yield place
    }
  }

  function page(query: ArchiveQuery, count: number): EndedPayment[] {
    const after = query.after && Buffer.from(query.after.nonce.slice(2), 'hex')
    const latest = Math.min(query.until - 1, query.after?.issuedAt ?? Number.POSITIVE_INFINITY)
    let found: Place[] = []
    for (let of = spans.length - 1; of >= 0; of--) {
      const { first = 0, last = 0 } = spans[of] ?? {}
      // Newer slabs come first, so most older ones have nothing that is newer than what was found.
      const oldest = found.length === count ? (found.at(-1)?.issuedAt ?? 0) : 0
      if (last < Math.max(query.since, oldest) || first > latest) continue
      found = [...found, ...matching(of, query, after)].sort(newestFirst).slice(0, count)
    }
    return found.map(({ number }) => read(number))
  }

  function readBurn(number: number): Omit<EndedPayment, 'finalized'> {
    const { slab, offset } = records.place(number)
    return unpackEnded(slab, offset, treasuries.at)
  }

  function read(number: number): EndedPayment {
    const mint = mintOf(number)
    const ended = readBurn(number)
    if (mint === noMint) return ended
    const place = mints.place(mint - 1)
    return { ...ended, finalized: unpackFinalized(place.slab, place.offset) }
  }

  const readKept = (number: number) => (gone.has(number) ? undefined : read(number))

  function keepForSnapshots(number: number): void {
    for (const { next, count, before } of snapshots) {
      if (number >= next && number < count && !before.has(number)) before.set(number, readKept(number))
    }
  }

  function* readSnapshot(reading: Snapshot): Generator<EndedPayment> {
    try {
      for (; reading.next < reading.count; reading.next++) {
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
      widenSpan(number, payment.challenge.issuedAt)
      setMint(number, finalized ? mints.push(mintRecord) : noMint)
      return true
    },

    find(nonce) {
      const number = numberOf(nonce)
      return number === undefined ? undefined : read(number)
    },

    findWithoutMint(nonce) {
      const number = numberOf(nonce)
      return number === undefined ? undefined : readBurn(number)
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
    awaitingCount: () => awaiting.reduce((sum, some) => sum + some, 0),
    page,

    snapshot() {
      const reading: Snapshot = { next: 0, count: records.count(), before: new Map() }
      snapshots.add(reading)
      return {
        [Symbol.iterator]: () => readSnapshot(reading),
        release() {
          snapshots.delete(reading)
          reading.before.clear()
        },
      }
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

type Place = {
  readonly number: number
  readonly slab: Buffer
  readonly offset: number
  readonly issuedAt: number
}

function newestFirst(a: Place, b: Place): number {
  if (a.issuedAt !== b.issuedAt) return b.issuedAt - a.issuedAt
  return b.slab.compare(a.slab, a.offset, a.offset + nonceBytes, b.offset, b.offset + nonceBytes)
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
