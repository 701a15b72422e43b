/**
 * The history as a file: every turn of every payment, a line each, behind the table of events and never on the way of a
 * request. The ledger remembers how far it was written, so that a start reads only what is behind that place. A ledger that
 * does not remember it may be an older copy, which gave numbers in the file to other events. A disk that refuses is told of and
 * tried again.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { type Address, type Clock, SvcError, type UnixSeconds } from '@svc-zerc20/protocol'
import type { LedgerEvent } from '../store/events.js'
import { type Line, lineEnd, writeLine } from '../store/journal/line.js'
import { lockJournal } from '../store/journal/lock.js'
import { readLines } from '../store/journal/read.js'
import { type Step, sql } from '../store/sql.js'
import { type HistoryEnd, readHistoryEnd } from '../store/steps/operator-steps.js'
import type { Store } from '../store/store.js'
import { decode } from '../store/stored.js'
import { kindOf } from './payment.js'

export type HistoryBinding = { readonly chainId: number; readonly token: Address }

/**
 * The first line names the ledger and its token. Every other one is a turn, with the number of its event. A ledger in
 * memory writes such a line at every start, and so does an older copy that was accepted.
 */
export type HistoryLine =
  | ({ readonly event: 'history_bound'; readonly ledger: string } & HistoryBinding)
  | { readonly event: string; readonly number: number }

export type HistoryFileStats = {
  /** Lines of the file. */
  readonly records: number
  readonly bytes: number
  /** The disk refused lines, and has not taken them since. */
  readonly failed: boolean
}

const name = 'PAYMENT_HISTORY_PATH'
/** Events that are written in one go. */
const eventsAtOnce = 500

export async function openHistoryFile(deps: {
  readonly path: string
  readonly binding: HistoryBinding
  readonly store: Pick<Store, 'id' | 'ask' | 'change'>
  /** The ledger is in memory alone. */
  readonly isForgotten: boolean
  readonly clock: Clock
  readonly onFailure: (err: unknown) => void
  readonly limits: { readonly historyPauseMs: number; readonly historyRetryMs: number }
}) {
  const { clock, store, limits } = deps
  const lock = await lockJournal(deps.path, deps.onFailure, name)
  try {
    // Daemons on several machines may have the same path for their own files.
    const ownName = `${hostname()}:${lock.path}`
    const end = readEnd(lock.path, deps.binding, store.id, await store.ask(readHistoryEnd(ownName)))
    if (end.ledger !== undefined && end.ledger !== store.id && !deps.isForgotten) throw foreign(lock.path)
    const isOurs = end.ledger === store.id
    const file = await open(lock.path, end.lines === 0 ? 'w+' : 'r+', 0o600)
    const { lines, bytes, crc } = end
    const place = isOurs ? { last: end.last, line: end.line } : { last: 0, line: 0 }
    const writer = createLineWriter(file, lock.path, { lines, bytes, crc, ...place })
    const closing = new AbortController()
    let isBound = isOurs
    let failed = false

    const bound = (): Turn => ({
      at: Math.floor(clock.now() / 1000) as UnixSeconds,
      number: 0,
      content: { event: 'history_bound', ledger: store.id, ...deps.binding },
    })

    async function round(): Promise<boolean> {
      const { known, agreed, events } = await store.ask(missingIn(lock.path, ownName, writer.end()))
      isBound &&= agreed.isWhole
      const turns = events.flatMap(turnOf)
      await writer.append([...(isBound ? [] : [bound()]), ...turns], events.at(-1)?.seq ?? agreed.last)
      isBound = true
      const written = writer.end()
      if (written.last > 0 && !isSame(written, known)) await store.change('historyWritten', ownName, written)
      failed = false
      return events.length === eventsAtOnce
    }

    async function run(): Promise<void> {
      while (!closing.signal.aborted) {
        const isMore = await round().catch((err: unknown) => {
          if (!failed) deps.onFailure(err)
          failed = true
          return false
        })
        const pauseMs = failed ? limits.historyRetryMs : limits.historyPauseMs
        if (!isMore) await clock.sleep(pauseMs, closing.signal)
      }
    }

    const running = run()
    return {
      tornBytes: end.tornBytes,
      stats: (): HistoryFileStats => ({ records: writer.end().lines, bytes: writer.end().bytes, failed }),
      async close(): Promise<void> {
        closing.abort()
        await running
        // The next start writes the missing events.
        while (await round().catch(() => false));
        await file.close()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

type End = HistoryEnd & {
  readonly tornBytes: number
  /** The ledger that the last lines are of; absent in a new file. */
  readonly ledger?: string
}

const beginning: HistoryEnd = { lines: 0, bytes: 0, last: 0, line: 0, crc: '' }

/** Where the file ends. Throws for a history of another token. */
function readEnd(
  path: string,
  { chainId, token }: HistoryBinding,
  ours: string,
  known: HistoryEnd = beginning,
): End {
  const isThere = known.lines > 0 && hasLineEnding(path, known)
  const from = isThere ? known : beginning
  let { last, line: number, crc } = from
  let ledger = isThere ? ours : undefined
  const onLine = (line: Line<HistoryLine>) => {
    const { content } = line
    crc = line.crc
    if ('number' in content) {
      number = content.number
      last = number
      return
    }
    number = 0
    if (content.chainId !== chainId || content.token !== token) throw foreign(path)
    ledger = content.ledger
  }
  const report = readLines<HistoryLine>(path, name, onLine, from)
  return { ...report, last, line: number, crc, ...(ledger !== undefined && { ledger }) }
}

/** Whether the line that was written last ends at its place: the file is the one that the ledger knows. */
function hasLineEnding(path: string, { bytes, crc }: HistoryEnd): boolean {
  const expected = Buffer.from(lineEnd(crc))
  const found = Buffer.alloc(expected.length)
  try {
    const file = openSync(path, 'r')
    readSync(file, found, 0, found.length, bytes - found.length)
    closeSync(file)
  } catch {
    return false
  }
  return found.equals(expected)
}

const foreign = (path: string) =>
  new SvcError(
    'history_unusable',
    `${name}: ${path} is the history of another token or ledger; move it away, and the whole history is written again`,
  )

/** `number`: of its event; 0 for a line of none. */
type Turn = { readonly at: UnixSeconds; readonly number: number; readonly content: object }

function createLineWriter(file: FileHandle, path: string, begun: HistoryEnd) {
  let end = begun
  return {
    end: (): HistoryEnd => end,
    async append(turns: readonly Turn[], last: number): Promise<void> {
      const lines = turns.map(({ at, content }, i) => writeLine(end.lines + 1 + i, at, content))
      const text = Buffer.from(lines.map((line) => line.text).join(''))
      if (text.length > 0) {
        await assertKept(file, path)
        // A write that was refused may have left a part of itself.
        await file.truncate(end.bytes)
        await file.write(text, 0, text.length, end.bytes)
        await file.datasync()
      }
      end = {
        lines: end.lines + turns.length,
        bytes: end.bytes + text.length,
        last,
        line: turns.at(-1)?.number ?? end.line,
        crc: lines.at(-1)?.crc ?? end.crc,
      }
    },
  }
}

/** A file that was moved away goes on taking lines that nobody will find. */
async function assertKept(file: FileHandle, path: string): Promise<void> {
  const [held, there] = await Promise.all([file.stat(), stat(path).catch(() => undefined)])
  if (held.ino === there?.ino && held.dev === there.dev) return
  throw new SvcError(
    'history_lost',
    `${name}: ${path} is gone from its place. Put it back, or start the daemon again: then all of it is written again`,
  )
}

type Numbered = { readonly seq: number; readonly at: UnixSeconds; readonly event: LedgerEvent }

function* eventsBehind(number: number, limit: number): Step<readonly Numbered[]> {
  const rows = yield sql`SELECT seq, at, record FROM event WHERE seq > ${number} ORDER BY seq LIMIT ${limit}`
  return rows.map(({ seq, at, record }) => ({ seq, at, event: decode<LedgerEvent>(record) }))
}

const isSame = (end: HistoryEnd, known: HistoryEnd | undefined): boolean =>
  end.lines === known?.lines && end.last === known.last && end.crc === known.crc

/** Events of the ledger behind the last one that it shares with the file. */
function* missingIn(path: string, ownName: string, end: HistoryEnd) {
  const known = yield* readHistoryEnd(ownName)
  const agreed = isSame(end, known) ? { last: end.last, isWhole: true } : yield* agree(path, end, known)
  return { known, agreed, events: yield* eventsBehind(agreed.last, eventsAtOnce) }
}

/**
 * Finds the last event on which file and ledger agree, and whether the file goes beyond it. A ledger that does not know this
 * end was not told of it, or is an older copy. The last line tells which: the ledger has its event or not.
 */
function* agree(path: string, end: HistoryEnd, known: HistoryEnd | undefined) {
  const told = known && hasLineEnding(path, known) ? known.last : 0
  const [event] = yield* eventsBehind(end.line - 1, 1)
  const turns = event?.seq === end.line ? turnOf(event) : []
  const isWhole =
    end.line === 0 || turns.some(({ at, content }) => writeLine(end.lines, at, content).crc === end.crc)
  return { last: isWhole ? Math.max(told, end.line) : told, isWhole }
}

/** The event as a turn of its payment; none for an event that no participant is told of. */
function turnOf({ seq: number, at, event }: Numbered): Turn[] {
  const kind = kindOf[event.event]
  if (!kind) return []
  const { event: _, ...fields } = event
  if ('challenge' in fields && event.event === 'burn_late') {
    const { challenge, ...rest } = fields
    return [{ at, number, content: { event: kind, number, challengeNonce: challenge.nonce, ...rest } }]
  }
  return [{ at, number, content: { event: kind, number, ...fields } }]
}
