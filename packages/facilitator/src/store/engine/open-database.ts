/**
 * Opens the database beside its journal, and brings it up to the journal's last line. Anything that would have to be
 * guessed is refused with words: a file that is older than the other, damaged, or of another ledger.
 */
import { closeSync, existsSync, openSync, renameSync } from 'node:fs'
import { SvcError, unixSeconds } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { apply, isEvent, type KeepSigned } from '../apply.js'
import type { LedgerEvent } from '../events.js'
import type { GroupSettings } from '../group.js'
import { type JournalFile, openJournalFile } from '../journal/file.js'
import { type JournalHead, type JournalLine, writeLine } from '../journal/line.js'
import { readMark } from '../journal/mark.js'
import { type ReadReport, readLines } from '../journal/read.js'
import { ledgerOld } from '../ledger-old.js'
import { create, lackedBy, type Migration, migrate, migrations, newId } from '../migrate.js'
import { assertHere, isElsewhere } from '../move/moved.js'
import { createRows } from '../rows/rows.js'
import { sqlite } from '../schema.js'
import { type Step, sql } from '../sql.js'
import { type Connection, openSqlite } from './sqlite.js'
import type { Position } from './writer.js'

export type OpenDatabase = {
  readonly id: string
  readonly connection: Connection
  readonly journal?: JournalFile
  position(): Position
  moveTo(position: Pick<Position, 'applied' | 'crc'>): void
  /** Cuts a long journal behind a checkpoint of the database. Between two groups. */
  tidy(): void
  readonly report: ReadReport
  /** It may be older than what happened: `acceptCopy` must be the first step. */
  readonly isCopy: boolean
  close(): void
}

export const databaseOf = (journal: string): string => `${journal}.db`

/** A ledger in memory, which ends with the process. */
export function openInMemory(): OpenDatabase {
  const connection = openSqlite(':memory:')
  const id = newId()
  connection.run(prepare(connection, id))
  const report = { lines: 0, bytes: 0, tornBytes: 0 }
  const limits = { journalBytesMax: 0 }
  return opened(id, { connection, report, limits, isCopy: false }, { applied: 0, crc: '', base: 0 })
}

/**
 * Throws `SvcError('ledger_old')`, `ledger_corrupt` or `ledger_newer` with what to do. `isCopyAccepted`: the operator goes on
 * with what is here, although it may be an older copy.
 */
export function openBeside(
  path: string,
  settings: GroupSettings,
  limits: TidyLimits,
  isCopyAccepted = false,
): OpenDatabase {
  const read = readJournal(path)
  makePrivate(databaseOf(path))
  const connection = openSqlite(databaseOf(path))
  try {
    // A checkpoint costs two syncs, whatever its size.
    connection.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000',
    )
    inOne(connection, () => connection.run(prepare(connection, read.head?.ledger ?? newId())))
    const known = stateOf(connection)
    const origin = originOf(path, read, known, isCopyAccepted)
    const { head, lines, journal } = fits(read, known)
      ? { ...read, journal: openJournalFile(path, read.report.bytes) }
      : beginJournal(path, read, known)
    connection.exec('BEGIN IMMEDIATE')
    if (known.state === 'no_journal') connection.query(sql`UPDATE ledger SET state = 'live'`)
    const position = catchUp(connection, head.base, known, lines, settings.keepSigned)
    connection.exec('COMMIT')
    const { report } = read
    return opened(known.id, { connection, journal, report, limits, isCopy: origin === 'copy' }, position)
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Makes an empty file that only its owner can read. SQLite gives the files beside it the same mode. */
export const makePrivate = (path: string): void => closeSync(openSync(path, 'a', 0o600))

const nowSeconds = () => unixSeconds(systemClock)

type Known = {
  readonly id: string
  readonly applied: number
  readonly crc: string
  /** `copy`: made as a backup. `no_journal`: its journal was taken away, and nothing happened since. Or where it went. */
  readonly state: string
}

/** The first line of a journal that begins behind the database. */
const headBehind = ({ id, applied, crc }: Pick<Known, 'id' | 'applied' | 'crc'>): JournalHead => ({
  event: 'journal_begun',
  ledger: id,
  base: applied,
  baseCrc: crc,
})

type ReadJournal = {
  /** Absent when there is no journal, or an empty one. */
  readonly head?: JournalHead
  readonly lines: readonly JournalLine[]
  readonly report: ReadReport
}

/** Throws when the file begins behind a database that is not there. */
function readJournal(path: string): ReadJournal {
  const lines: JournalLine[] = []
  const report = readLines<JournalLine['content']>(path, 'settlement.journal', (line) => {
    const { event } = line.content
    // Its checksum was good, so that a newer version must have written it.
    if (lines.length > 0 && !isEvent(event)) {
      throw new SvcError('ledger_newer', `the event ${event} is unknown here`)
    }
    lines.push(line)
  })
  const [first, ...rest] = lines
  if (!first) return { lines, report }
  const { content } = first
  if (content.event !== 'journal_begun') {
    throw new SvcError('ledger_corrupt', `settlement.journal: ${path} does not begin as a journal does`)
  }
  if (content.base > 0 && !existsSync(databaseOf(path))) {
    throw ledgerOld(`${databaseOf(path)} is missing, which held all before the first line of ${path}`)
  }
  return { head: content, lines: rest, report }
}

const hasSchema = (connection: Connection): boolean =>
  connection.query(sql`SELECT 1 FROM sqlite_master WHERE name = 'ledger'`).length > 0

/** Makes the tables where there are none, and brings them to the newest version. */
function* prepare(connection: Connection, id: string, known = migrations): Step<readonly Migration[]> {
  if (!hasSchema(connection)) yield* create(sqlite, id)
  return yield* migrate(sqlite, known)
}

/**
 * Brings the tables of a ledger to the newest version, unless `isDryRun`, and gives what that takes: undefined where there
 * are no tables yet. No daemon may have the files open.
 */
export function migrateBeside(
  path: string,
  { isDryRun, known = migrations }: { readonly isDryRun: boolean; readonly known?: readonly Migration[] },
): readonly Migration[] | undefined {
  if (!existsSync(databaseOf(path))) return undefined
  const connection = openSqlite(databaseOf(path))
  try {
    const [ledger] = connection.query(sql`SELECT schema_version FROM ledger`)
    if (isDryRun) return lackedBy(ledger?.schema_version, known)
    return inOne(connection, () => connection.run(migrate(sqlite, known)))
  } finally {
    connection.close()
  }
}

/** One transaction. */
function inOne<T>(connection: Connection, work: () => T): T {
  connection.exec('BEGIN IMMEDIATE')
  const value = work()
  connection.exec('COMMIT')
  return value
}

function stateOf(connection: Connection): Known {
  const [row] = connection.query(sql`SELECT id, applied, applied_crc, state FROM ledger`)
  if (!row) throw new SvcError('ledger_corrupt', 'settlement.journal: the table of the ledger is empty')
  return { id: row.id, applied: row.applied, crc: row.applied_crc, state: row.state }
}

/** The journal goes on where the database ends, and agrees with it on the last event that both have. */
function fits(read: ReadJournal, known: Known): read is ReadJournal & { readonly head: JournalHead } {
  const { head, lines } = read
  if (!head) return false
  const crc = known.applied === head.base ? head.baseCrc : lines[known.applied - head.base - 1]?.crc
  return known.id === head.ledger && crc === known.crc
}

/** A new journal behind the database. Lines of another one cannot be applied, but may be all that is left of them. */
function beginJournal(path: string, read: ReadJournal, known: Known) {
  if (read.head) renameSync(path, `${path}.before-${nowSeconds()}`)
  const head = headBehind(known)
  const journal = openJournalFile(path, 0)
  journal.append(writeLine(1, nowSeconds(), head).text)
  return { head, lines: [], journal }
}

/**
 * Whether the files are the `live` ledger, or a `copy` that may be older than what happened. Throws when only the
 * operator can decide to go on.
 */
function originOf(path: string, read: ReadJournal, known: Known, isCopyAccepted: boolean): 'live' | 'copy' {
  if (known.state === 'copy') return 'copy'
  if (isCopyAccepted && isElsewhere(known.state)) return 'copy'
  assertHere(known.state, 'settlement.journal')
  const problem = problemOf(path, read, known)
  if (!isCopyAccepted) {
    if (problem !== undefined) throw ledgerOld(problem)
    return 'live'
  }
  const isBehind = (readMark(path)?.applied ?? 0) > known.applied
  return known.state === 'no_journal' && !isBehind ? 'live' : 'copy'
}

/** Why one of the files is not the newest, as far as the files tell. */
function problemOf(path: string, read: ReadJournal, known: Known): string | undefined {
  const { head, lines } = read
  const database = databaseOf(path)
  const last = head ? head.base + lines.length : 0
  const mark = readMark(path)
  if (!head && known.applied > 0) {
    const isWhole = known.state === 'no_journal' ? ', all there were when it was taken away' : ''
    return `${path} is empty or missing, and ${database} has ${known.applied} events${isWhole}`
  }
  if (known.applied > last)
    return `${path} is an old copy: it ends at event ${last}, ${database} at ${known.applied}`
  if (head && known.applied < head.base)
    return `${database} is an old copy: it ends at event ${known.applied}, ${path} begins behind ${head.base}`
  if (mark && (mark.id !== known.id || mark.applied > last))
    return `${path} and ${database} are an old copy: they end at event ${last}, and there were ${mark.applied}`
  if (head && !fits(read, known)) return `${path} and ${database} do not belong together`
  return undefined
}

/** Applies the lines that the database lacks. */
function catchUp(
  connection: Connection,
  base: number,
  known: Known,
  lines: readonly JournalLine[],
  keep: KeepSigned,
): Position {
  const missing = lines.slice(known.applied - base)
  const last = missing.at(-1)
  if (!last) return { applied: known.applied, crc: known.crc, base }
  const rows = createRows()
  missing.forEach((line, i) => {
    connection.run(apply(line.content as LedgerEvent, known.applied + 1 + i, { at: line.at, keep, rows }))
  })
  const applied = known.applied + missing.length
  connection.query(sql`UPDATE ledger SET applied = ${applied}, applied_crc = ${last.crc}`)
  return { applied, crc: last.crc, base }
}

/**
 * Asks what a start would find, and changes nothing. Throws as a start does. No daemon may have the files open.
 */
export function peek<T>(path: string, question: Step<T>): { readonly value: T; readonly report: ReadReport } {
  const read = readJournal(path)
  const isKnown = existsSync(databaseOf(path))
  const connection = openSqlite(isKnown ? databaseOf(path) : ':memory:')
  try {
    connection.exec('BEGIN IMMEDIATE')
    connection.run(prepare(connection, read.head?.ledger ?? newId()))
    const known = stateOf(connection)
    originOf(path, read, known, false)
    catchUp(connection, read.head?.base ?? known.applied, known, read.lines, { blocks: 0 })
    const value = connection.run(question)
    connection.exec('ROLLBACK')
    return { value, report: read.report }
  } finally {
    connection.close()
  }
}

export type TidyLimits = {
  /** The journal is cut when it is longer. */
  readonly journalBytesMax: number
}

function opened(
  id: string,
  parts: Pick<OpenDatabase, 'connection' | 'journal' | 'report' | 'isCopy'> & { readonly limits: TidyLimits },
  from: Position,
): OpenDatabase {
  const { limits, ...rest } = parts
  const { connection, journal } = rest
  let position = from

  return {
    ...rest,
    id,
    position: () => position,
    moveTo(next) {
      position = { ...position, ...next }
    },
    tidy() {
      if (!journal || journal.bytes() <= limits.journalBytesMax) return
      // All of the database is on the disk, unless a reader is in the way.
      const [checkpoint] = connection.query({ text: 'PRAGMA wal_checkpoint(TRUNCATE)', values: [] })
      if (checkpoint?.busy !== 0) return
      journal.replace(writeLine(1, nowSeconds(), headBehind({ id, ...position })).text)
      position = { ...position, base: position.applied }
    },
    close() {
      journal?.close()
      connection.close()
    },
  }
}
