/**
 * Opens the database beside its journal, and brings it up to the journal's last line. Anything that would have to be
 * guessed is refused with words: a file that is older than the other, damaged, or of another ledger.
 */
import { closeSync, existsSync, openSync, renameSync } from 'node:fs'
import { SvcError, unixSeconds } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { systemRandom } from '../../system.js'
import { apply, isEvent, type KeepSigned } from '../apply.js'
import type { LedgerEvent } from '../events.js'
import { type JournalFile, openJournalFile } from '../journal/file.js'
import { type JournalHead, type JournalLine, writeLine } from '../journal/line.js'
import { old, readMark } from '../journal/mark.js'
import { type ReadReport, readLines } from '../journal/read.js'
import { createRows } from '../rows/rows.js'
import { schemaVersion, sqliteSchema } from '../schema.js'
import { type Step, sql } from '../sql.js'
import { unitsColumn } from '../units.js'
import { type Connection, openSqlite } from './sqlite.js'
import type { Position, WriterSettings } from './writer.js'

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

const idBytes = 16
const newId = () => Buffer.from(systemRandom.bytes(idBytes)).toString('hex')

export const databaseOf = (journal: string): string => `${journal}.db`

/** A ledger that nothing outlives. */
export function openInMemory(): OpenDatabase {
  const connection = openSqlite(':memory:')
  const id = newId()
  create(connection, id)
  let position: Position = { applied: 0, crc: '', base: 0 }
  return {
    id,
    connection,
    position: () => position,
    moveTo(next) {
      position = { ...position, ...next }
    },
    tidy: () => undefined,
    report: { lines: 0, bytes: 0, tornBytes: 0 },
    isCopy: false,
    close: connection.close,
  }
}

/**
 * Throws `SvcError('journal_old')`, `journal_corrupt` or `journal_newer` with what to do. `isAccepted`: the operator goes on
 * with what is here, although it may be an older copy.
 */
export function openBeside(
  path: string,
  settings: WriterSettings,
  limits: TidyLimits,
  isAccepted = false,
): OpenDatabase {
  const { head, lines, report } = readJournal(path)
  makePrivate(databaseOf(path))
  const connection = openSqlite(databaseOf(path))
  try {
    // A checkpoint costs two syncs, whatever its size.
    connection.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000',
    )
    if (!hasSchema(connection)) create(connection, head?.ledger ?? newId())
    const known = stateOf(connection)
    const begun = head ?? headBehind(known)
    const isCopy = known.isCopy || isAccepted
    if (!isCopy) assertNewest(path, head, known, lines)
    const isFit = head !== undefined && fits(begun, known, lines)
    if (!isFit && head) {
      if (!isAccepted) throw old(`${path} and ${databaseOf(path)} do not belong together`)
      // Its lines cannot be applied, and may be all that is left of them.
      renameSync(path, `${path}.before-${nowSeconds()}`)
    }
    const journal = openJournalFile(path, isFit ? report.bytes : 0)
    if (!isFit) journal.append(writeLine(1, nowSeconds(), headBehind(known)).text)
    const from = isFit ? begun : headBehind(known)
    connection.exec('BEGIN IMMEDIATE')
    if (known.isRescued) connection.query(sql`UPDATE ledger SET copied_at = NULL`)
    const position = catchUp(connection, from.base, known, isFit ? lines : [], settings.keepSigned)
    connection.exec('COMMIT')
    return opened(known.id, { connection, journal, report, limits, isCopy }, position)
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
  /** It was made as a backup. */
  readonly isCopy: boolean
  /** It is all that was left when its journal was taken away, and nothing happened since. */
  readonly isRescued: boolean
}

/** The first line of a journal that begins behind the database. */
const headBehind = ({ id, applied, crc }: Known): JournalHead => ({
  event: 'journal_begun',
  ledger: id,
  base: applied,
  baseCrc: crc,
})

/** Throws when the file begins behind a database that is not there. */
function readJournal(path: string): {
  readonly head?: JournalHead
  readonly lines: readonly JournalLine[]
  readonly report: ReadReport
} {
  const lines: JournalLine[] = []
  const report = readLines<JournalLine['content']>(path, 'settlement.journal', (line) => {
    const { event } = line.content
    // Its checksum was good, so that a newer version must have written it.
    if (lines.length > 0 && !isEvent(event)) {
      throw new SvcError('journal_newer', `the event ${event} is unknown here`)
    }
    lines.push(line)
  })
  const [first, ...rest] = lines
  if (!first) return { lines, report }
  const { content } = first
  if (content.event !== 'journal_begun') {
    throw new SvcError('journal_corrupt', `settlement.journal: ${path} does not begin as a journal does`)
  }
  if (content.base > 0 && !existsSync(databaseOf(path))) {
    throw old(`${databaseOf(path)} is missing, which held all before the first line of ${path}`)
  }
  return { head: content, lines: rest, report }
}

const hasSchema = (connection: Connection): boolean =>
  connection.query(sql`SELECT 1 FROM sqlite_master WHERE name = 'ledger'`).length > 0

function create(connection: Connection, id: string): void {
  connection.exec('BEGIN IMMEDIATE')
  connection.exec(sqliteSchema)
  connection.query(sql`
    INSERT INTO ledger (one, id, schema_version, applied, applied_crc, fees, record)
    VALUES (1, ${id}, ${schemaVersion}, 0, '', ${unitsColumn(0n)}, '{}')`)
  connection.exec('COMMIT')
}

function stateOf(connection: Connection): Known {
  const [row] = connection.query(sql`SELECT id, schema_version, applied, applied_crc, copied_at FROM ledger`)
  if (row?.schema_version !== schemaVersion) {
    throw new SvcError(
      'journal_newer',
      `the database has the schema ${row?.schema_version}, not ${schemaVersion}`,
    )
  }
  return {
    id: row.id,
    applied: row.applied,
    crc: row.applied_crc,
    isCopy: row.copied_at > 0,
    isRescued: row.copied_at === 0,
  }
}

/** The journal goes on where the database ends, and agrees with it on the last event that both have. */
function fits({ ledger, base, baseCrc }: JournalHead, known: Known, lines: readonly JournalLine[]): boolean {
  const crc = known.applied === base ? baseCrc : lines[known.applied - base - 1]?.crc
  return known.id === ledger && crc === known.crc
}

/** Throws when one of the files is older than another. */
function assertNewest(
  path: string,
  head: JournalHead | undefined,
  known: Known,
  lines: readonly JournalLine[],
): void {
  const database = databaseOf(path)
  const last = head ? head.base + lines.length : known.isRescued ? known.applied : 0
  const mark = readMark(path)
  if (!head && known.applied > 0 && !known.isRescued)
    throw old(`${path} is empty or missing, and ${database} has ${known.applied} events`)
  if (known.applied > last)
    throw old(`${path} is an old copy: it ends at event ${last}, ${database} at ${known.applied}`)
  if (head && known.applied < head.base) {
    throw old(
      `${database} is an old copy: it ends at event ${known.applied}, ${path} begins behind ${head.base}`,
    )
  }
  if (mark && (mark.id !== known.id || mark.applied > last)) {
    throw old(
      `${path} and ${database} are an old copy: they end at event ${last}, and there were ${mark.applied}`,
    )
  }
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
 * What a start would find, asked without changing anything. Throws as a start does. No daemon may have the files open.
 */
export function peek<T>(path: string, question: Step<T>): { readonly value: T; readonly report: ReadReport } {
  const read = readJournal(path)
  const isKnown = existsSync(databaseOf(path))
  const connection = openSqlite(isKnown ? databaseOf(path) : ':memory:')
  try {
    if (!isKnown) create(connection, read.head?.ledger ?? newId())
    const known = stateOf(connection)
    if (!known.isCopy) assertNewest(path, read.head, known, read.lines)
    connection.exec('BEGIN IMMEDIATE')
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
  parts: {
    readonly connection: Connection
    readonly journal: JournalFile
    readonly report: ReadReport
    readonly limits: TidyLimits
    readonly isCopy: boolean
  },
  from: Position,
): OpenDatabase {
  const { connection, journal, report, limits, isCopy } = parts
  let position = from

  return {
    id,
    connection,
    journal,
    report,
    isCopy,
    position: () => position,
    moveTo(next) {
      position = { ...position, ...next }
    },
    tidy() {
      if (journal.bytes() <= limits.journalBytesMax) return
      // All of the database is on the disk, unless a reader is in the way.
      const [checkpoint] = connection.query({ text: 'PRAGMA wal_checkpoint(TRUNCATE)', values: [] })
      if (checkpoint?.busy !== 0) return
      const { applied: base, crc: baseCrc } = position
      const head: JournalHead = { event: 'journal_begun', ledger: id, base, baseCrc }
      journal.replace(writeLine(1, nowSeconds(), head).text)
      position = { ...position, base }
    },
    close() {
      journal.close()
      connection.close()
    },
  }
}
