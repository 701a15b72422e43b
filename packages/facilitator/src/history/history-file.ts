/**
 * The history as a file: every turn of every payment, a line each, behind the table of events and never on the way of a
 * request. A start goes on behind the last whole line. A disk that refuses is told of and tried again.
 */
import { type FileHandle, open, stat } from 'node:fs/promises'
import { type Address, type Clock, SvcError, type UnixSeconds } from '@svc-zerc20/protocol'
import type { LedgerEvent } from '../store/events.js'
import { type Line, writeLine } from '../store/journal/line.js'
import { lockJournal } from '../store/journal/lock.js'
import { type Place, placeNearEnd, readLines } from '../store/journal/read.js'
import { type Step, sql } from '../store/sql.js'
import type { Store } from '../store/store.js'
import { decode } from '../store/stored.js'
import { kindOf } from './turns.js'

export type HistoryBinding = { readonly chainId: number; readonly token: Address }

/**
 * The first line says whose history it is, and so does one now and then, so that a start learns it from the end of a long
 * file. Every other one is a turn, with the number of its event. A ledger that nothing outlives says it at every start, and
 * so does an older copy that is gone on with.
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

export type HistoryFile = {
  readonly tornBytes: number
  stats(): HistoryFileStats
  close(): Promise<void>
}

const name = 'PAYMENT_HISTORY_PATH'
/** Events that are written in one go. */
const eventsAtOnce = 500
/** Turns after which a line says again whose history it is. */
const turnsBoundMax = 1_000

export async function openHistoryFile(deps: {
  readonly path: string
  readonly binding: HistoryBinding
  readonly store: Pick<Store, 'id' | 'ask' | 'figures'>
  /** The ledger is in memory alone. */
  readonly isForgotten: boolean
  readonly clock: Clock
  readonly onFailure: (err: unknown) => void
  readonly limits: {
    readonly historyPauseMs: number
    readonly historyRetryMs: number
    /** The end of the file that a start reads, however long the file is. */
    readonly historyEndBytes: number
  }
}): Promise<HistoryFile> {
  const { clock, store, limits } = deps
  const lock = await lockJournal(deps.path, deps.onFailure, name)
  try {
    const end = readEnd(lock.path, deps.binding, limits.historyEndBytes)
    const { records } = store.figures()
    if (end.ledger !== undefined && end.ledger !== store.id && !deps.isForgotten) throw foreign(lock.path)
    // An older copy of the ledger goes on with numbers that the file has seen already.
    const isOlder = end.last > records
    const isOurs = end.ledger === store.id && !isOlder
    const last = isOurs ? end.last : isOlder && !deps.isForgotten ? records : 0
    const file = await open(lock.path, end.lines === 0 ? 'w+' : 'r+', 0o600)
    const writer = createLineWriter(file, lock.path, { ...end, last })
    const closing = new AbortController()
    /** Turns since a line said whose history it is. */
    let unbound = isOurs ? end.unbound : turnsBoundMax
    let failed = false

    const bound = (): Turn => ({
      at: Math.floor(clock.now() / 1000) as UnixSeconds,
      content: { event: 'history_bound', ledger: store.id, ...deps.binding },
    })

    async function round(): Promise<boolean> {
      const events = await store.ask(eventsBehind(writer.last(), eventsAtOnce))
      const turns = events.flatMap(turnOf)
      const isDue = unbound >= turnsBoundMax
      await writer.append([...(isDue ? [bound()] : []), ...turns], events.at(-1)?.seq)
      unbound = (isDue ? 0 : unbound) + turns.length
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
      stats: () => ({ records: writer.lines(), bytes: writer.bytes(), failed }),
      async close() {
        closing.abort()
        await running
        // What is missing is written by the next start.
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

type End = {
  readonly lines: number
  readonly bytes: number
  readonly tornBytes: number
  readonly last: number
  /** Turns behind the line that said last whose history it is. */
  readonly unbound: number
  /** The ledger that the last lines are of; absent in a new file. */
  readonly ledger?: string
}

/** Where the file ends. Throws for a history of another token. */
function readEnd(path: string, binding: HistoryBinding, endBytes: number): End {
  const near = readFrom(path, binding, placeNearEnd(path, endBytes))
  return near.ledger === undefined && near.lines > 0 ? readFrom(path, binding) : near
}

function readFrom(path: string, { chainId, token }: HistoryBinding, from?: Place): End {
  let last = 0
  let unbound = 0
  let ledger: string | undefined
  const onLine = ({ content }: Line<HistoryLine>) => {
    if ('number' in content) {
      last = content.number
      unbound += 1
      return
    }
    if (content.chainId !== chainId || content.token !== token) throw foreign(path)
    ledger = content.ledger
    unbound = 0
  }
  const report = readLines<HistoryLine>(path, name, onLine, from)
  return { ...report, last, unbound, ...(ledger !== undefined && { ledger }) }
}

const foreign = (path: string) =>
  new SvcError(
    'history_unusable',
    `${name}: ${path} is the history of another token or ledger; move it away, and the whole history is written again`,
  )

type Turn = { readonly at: UnixSeconds; readonly content: object }

function createLineWriter(file: FileHandle, path: string, end: End) {
  let { lines, bytes, last } = end
  return {
    lines: () => lines,
    bytes: () => bytes,
    /** The number of the last event that is in the file, or needs no line. */
    last: () => last,
    async append(turns: readonly Turn[], newest = last): Promise<void> {
      const text = Buffer.from(
        turns.map(({ at, content }, i) => writeLine(lines + 1 + i, at, content).text).join(''),
      )
      if (text.length > 0) {
        await assertKept(file, path)
        // A write that was refused may have left a part of itself.
        await file.truncate(bytes)
        await file.write(text, 0, text.length, bytes)
        await file.datasync()
      }
      lines += turns.length
      bytes += text.length
      last = newest
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

/** The event as a turn of its payment; none for an event that no participant is told of. */
function turnOf({ seq: number, at, event }: Numbered): Turn[] {
  const kind = kindOf[event.event]
  if (!kind) return []
  const { event: _, ...fields } = event
  if ('challenge' in fields && event.event === 'burn_late') {
    const { challenge, ...rest } = fields
    return [{ at, content: { event: kind, number, challengeNonce: challenge.nonce, ...rest } }]
  }
  return [{ at, content: { event: kind, number, ...fields } }]
}
