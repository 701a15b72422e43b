/**
 * Journal, WAL and database as a power failure may leave them, each independently of the others. A disk has all synced bytes,
 * and any sectors of later writes; other sectors have their earlier bytes, nothing, or, behind the old end of a file,
 * anything. A sector that holds synced bytes is never torn.
 *
 * The journal's calls are watched. SQLite (WAL, `synchronous = NORMAL`) makes its own, by these rules:
 * - A commit writes frames to the WAL, and syncs nothing.
 * - The first commit of an empty WAL, or of one whose frames are all in the database, begins the WAL again from its
 *   beginning. It writes the header and syncs it before the first frame.
 * - A checkpoint syncs the WAL, writes pages to the database, and syncs the database. Then TRUNCATE empties the WAL, which
 *   the next sync of the WAL makes durable.
 * - A new database gets its first page, which says that it has a WAL, with a sync.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Connection } from '../src/store/engine/sqlite.js'
import { aroundFileCalls, type FileCall } from './file-calls.js'

/** A file as it was synced, and as it is. */
type Written = { readonly synced: Buffer; readonly current: Buffer }

/** An instant at which the power may fail. */
export type Instant = {
  /** Files that the journal's name may stand for: two, while a rename is not synced. */
  readonly journals: readonly Written[]
  readonly wal: Written
  readonly database: Written
}

const walHeaderBytes = 32
const frameBytes = 24 + 4096
const sectorBytes = 512

const refusal = () => Object.assign(new Error('refused'), { code: 'EIO' })
const read = (path: string) => (existsSync(path) ? readFileSync(path) : Buffer.alloc(0))
const whole = (content: Buffer): Written => ({ synced: content, current: content })

/** Tells every instant of a ledger, from its opening on. The disk refuses a call, or a commit, when `refuses` says so. */
export function watchPower(journal: string, onInstant: (instant: Instant) => void, refuses: () => boolean) {
  const names = { wal: `${journal}.db-wal`, database: `${journal}.db` }
  let wal = whole(read(names.wal))
  let database = whole(read(names.database))
  let named = whole(read(journal))
  /** The file that had the journal's name before a rename that is not synced. */
  let former: Written | undefined
  let unnamed = whole(Buffer.alloc(0))

  const tell = (now: Partial<Instant> = {}) =>
    onInstant({ journals: former ? [named, former] : [named], wal, database, ...now })

  /** Our own reads are no calls of the ledger. */
  let isReading = false

  function readBoth(): readonly [Buffer, Buffer] {
    isReading = true
    const both = [read(names.wal), read(names.database)] as const
    isReading = false
    return both
  }

  /** Looks at what SQLite did since the last look. */
  function look(): void {
    const [frames, pages] = readBoth()
    if (!frames.equals(wal.current)) {
      const header = frames.subarray(0, walHeaderBytes)
      const isBegun = header.length > 0 && !header.equals(wal.current.subarray(0, walHeaderBytes))
      const synced = isBegun ? Buffer.concat([header, wal.current.subarray(walHeaderBytes)]) : wal.synced
      const before = wal.current
      wal = { synced, current: frames }
      if (frames.length === 0 && !pages.equals(database.current)) wal = { synced: before, current: before }
      tell()
    }
    if (pages.equals(database.current)) return
    if (database.current.length > 0) {
      wal = whole(wal.current)
      tell({ database: { synced: database.current, current: pages } })
    }
    database = whole(pages)
    wal = { ...wal, current: frames }
    tell()
  }

  /** Notes the effect of a call on the files of the journal. */
  function note({ name, path }: FileCall): void {
    if (path === dirname(journal)) {
      if (name === 'sync') former = undefined
    } else if (name === 'rename') {
      former = named
      named = unnamed
    } else if (path === journal) {
      const current = read(journal)
      named = { synced: name === 'sync' ? current : named.synced, current }
    } else if (path === `${journal}.new`) {
      const current = read(path)
      unnamed = { synced: name === 'sync' ? current : unnamed.synced, current }
    }
  }

  aroundFileCalls([dirname(journal)], (call, act) => {
    if (isReading) return act()
    look()
    const isRefused = refuses()
    if (isRefused && call.name !== 'write') throw refusal()
    const value = act(...(isRefused ? [1] : []))
    note(call)
    tell()
    if (isRefused) throw refusal()
    return value
  })
  return {
    /** Looks behind every commit and every checkpoint of the writer. */
    watch(connection: Connection): void {
      look()
      const { exec, query } = connection
      connection.exec = (text) => {
        if (text === 'COMMIT' && refuses()) throw refusal()
        exec(text)
        look()
      }
      connection.query = (asked) => {
        const rows = query(asked)
        if (asked.text.includes('wal_checkpoint')) look()
        return rows
      }
    },
  }
}

type Draw = (limit: number) => number

/** One of the states that a power failure may leave. */
function leftOf({ synced, current }: Written, below: Draw, hasGarbage: boolean, unit = 1): Buffer {
  if (synced.equals(current)) return current
  const [least, most] = [synced.length, current.length].toSorted((a, b) => a - b) as [number, number]
  switch (below(4)) {
    case 0:
      return synced
    case 1:
      return current
    case 2:
      // All that was written up to some place; a file that was cut is cut, or is not.
      if (current.length < synced.length) return below(2) === 0 ? synced : current
      return current.subarray(0, Math.min(most, least + unit * below(1 + Math.ceil((most - least) / unit))))
  }
  const length = current.length < synced.length ? current.length : least + below(most - least + 1)
  const chance = 1 + below(9)
  const left = Buffer.alloc(length)
  synced.copy(left)
  for (let at = 0; at < length; at += sectorBytes) {
    const end = Math.min(at + sectorBytes, length)
    if (below(10) < chance) current.copy(left, at, at, end)
    else if (hasGarbage && at >= synced.length && below(3) === 0)
      for (let i = at; i < end; i++) left[i] = below(256)
  }
  return left
}

/** Writes what a power failure at this instant may leave, as the ledger of another journal. */
export function failPower({ journals, wal, database }: Instant, to: string, below: Draw): void {
  const journal = journals[below(journals.length)] ?? whole(Buffer.alloc(0))
  writeFileSync(to, leftOf(journal, below, true))
  writeFileSync(`${to}.db-wal`, leftOf(wal, below, true, below(2) === 0 ? frameBytes : 1))
  writeFileSync(`${to}.db`, leftOf(database, below, false))
}
