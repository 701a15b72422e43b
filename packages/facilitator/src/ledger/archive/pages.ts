/** Pages of the archive, newest payment first. Only payments on the page are unpacked. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { isSameEpoch } from '../../payment/epochs/epoch.js'
import type { AddressEpoch } from '../../payment/records.js'
import type { EndedTable } from './ended-table.js'
import { type EndedPayment, issuedAtIn, nonceBytes } from './packing.js'
import { recordsPerSlab, slabOf } from './slabs.js'

export type ArchiveQuery = {
  /** Bounds of `issuedAt` in unix seconds: from, and up to but without. */
  readonly since: number
  readonly until: number
  /** Only payments behind this place in the order of pages. */
  readonly after?: { readonly issuedAt: number; readonly nonce: ChallengeNonce } | undefined
  /** Only finalized payments, or only those that are not. */
  readonly isFinalized?: boolean | undefined
  /** Only payments of this epoch. */
  readonly epoch?: AddressEpoch | undefined
}

export type ArchivePages = {
  /** A payment with this time of issue is in the table under this number. */
  note(number: number, issuedAt: number): void
  page(query: ArchiveQuery, count: number): EndedPayment[]
}

type Found = {
  readonly number: number
  readonly issuedAt: number
  readonly slab: Buffer
  readonly offset: number
}

export function createPages(table: EndedTable): ArchivePages {
  /** For each slab, the earliest and the latest time of issue in it. */
  const spans: { readonly first: number; readonly last: number }[] = []

  /** The payments of one slab that a query asks for. */
  function* matching(ofSlab: number, query: ArchiveQuery, after: Buffer | undefined): Iterable<Found> {
    const end = Math.min(table.count(), (ofSlab + 1) * recordsPerSlab)
    for (let number = ofSlab * recordsPerSlab; number < end; number++) {
      if (table.isTakenOut(number)) continue
      const { slab, offset } = table.place(number)
      const issuedAt = issuedAtIn(slab, offset)
      if (issuedAt < query.since || issuedAt >= query.until) continue
      if (query.isFinalized !== undefined && table.isAwaiting(number) === query.isFinalized) continue
      if (query.epoch && !isSameEpoch(query.epoch, table.epochOf(number))) continue
      const found = { number, issuedAt, slab, offset }
      if (query.after && after && !isBehind(found, query.after.issuedAt, after)) continue
      yield found
    }
  }

  return {
    note(number, issuedAt) {
      const { first, last } = spans[slabOf(number)] ?? { first: issuedAt, last: issuedAt }
      spans[slabOf(number)] = { first: Math.min(first, issuedAt), last: Math.max(last, issuedAt) }
    },
    page(query, count) {
      const after = query.after && Buffer.from(query.after.nonce.slice(2), 'hex')
      const latest = Math.min(query.until - 1, query.after?.issuedAt ?? Number.POSITIVE_INFINITY)
      const found: Found[] = []
      for (let slab = spans.length - 1; slab >= 0; slab--) {
        const { first = 0, last = 0 } = spans[slab] ?? {}
        // Newer slabs come first: once the page is full, most older slabs hold nothing newer than its end.
        const oldest = found.length === count ? (found.at(-1)?.issuedAt ?? 0) : 0
        if (last < Math.max(query.since, oldest) || first > latest) continue
        for (const each of matching(slab, query, after)) insert(found, each, count)
      }
      return found.map(({ number }) => table.read(number))
    },
  }
}

/** Whether a payment comes behind this place: it is older, or as old with a lower nonce. */
function isBehind({ issuedAt, slab, offset }: Found, time: number, nonce: Buffer): boolean {
  if (issuedAt !== time) return issuedAt < time
  return slab.compare(nonce, 0, nonceBytes, offset, offset + nonceBytes) < 0
}

/** Inserts a payment at its place in a page of at most `count`, unless it is older than all of a full page. */
function insert(page: Found[], found: Found, count: number): void {
  const last = page.at(-1)
  if (last && page.length >= count && newestFirst(last, found) < 0) return
  const place = page.findLastIndex((earlier) => newestFirst(earlier, found) < 0) + 1
  page.splice(place, 0, found)
  page.length = Math.min(page.length, count)
}

function newestFirst(a: Found, b: Found): number {
  if (a.issuedAt !== b.issuedAt) return b.issuedAt - a.issuedAt
  return b.slab.compare(a.slab, a.offset, a.offset + nonceBytes, b.offset, b.offset + nonceBytes)
}
