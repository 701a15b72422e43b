/** A PostgreSQL server: connections as we need them, and steps that are run over them. */
import { createSerial, type Secret, SvcError } from '@svc-zerc20/protocol'
import postgres from 'postgres'
import { type Migration, migrations } from '../migrate.js'
import type { Query, Row, Step, Value } from '../sql.js'

/** A server that is frozen, or behind a cable that was cut, says nothing at all. */
const statementMs = 5_000
/** A daemon that stops in a transaction holds up all others: for less than they wait for it, and less than their leases last. */
const restMs = 3_000
const connectSecondsMax = 5
const readersMax = 4
const asideMax = 2

export type Send = (query: Query) => Promise<readonly Row[]>

/**
 * One connection that writes and some that only read. Sessions are read-only outside a transaction that says otherwise:
 * when a connection breaks, the library opens another one, where the rest of a broken transaction must not happen.
 */
export type Client = {
  /**
   * Has the writing connection for itself while `work` runs. Queries that are sent at once travel together, and are
   * answered in order.
   */
  write<T>(work: (send: Send) => Promise<T>): Promise<T>
  read<T>(work: (send: Send) => Promise<T>): Promise<T>
  /** The migrations that are known here. */
  readonly migrations: readonly Migration[]
  close(): Promise<void>
}

export type Database = {
  readonly url: string
  readonly password?: Secret<string> | undefined
  readonly migrations?: readonly Migration[]
  /** How long a connection may take to open. */
  readonly connectSeconds?: number
}

/** How long a statement may take, how long a transaction may rest between two, and how long all of it may take. */
type Timeouts = { readonly statementMs: number; readonly restMs: number; readonly answerMs: number }

/** For work whose answer somebody waits for. */
const short: Timeouts = { statementMs, restMs, answerMs: 2 * statementMs }
/** For a migration or a move, which may go over all rows. */
export const long: Timeouts = { statementMs: 0, restMs: 600_000, answerMs: 2 ** 31 - 1 }

export function connect(database: Database, timeouts = short): Client {
  const [writer, readers] = [
    createPool(database, { ...timeouts, connections: 1, isReadOnly: true }, () => true),
    createPool(database, { ...timeouts, connections: readersMax, isReadOnly: true }, isConnectionError),
  ]
  const inTurn = createSerial()
  return {
    write: (work) => inTurn(() => writer.use(work)),
    read: readers.use,
    migrations: database.migrations ?? migrations,
    close: () => Promise.all([writer.close(), readers.close()]).then(() => undefined),
  }
}

/** The library ends a connection to a standby at once. */
const isStandby = (error: unknown) => (error as { readonly code?: unknown }).code === 'CONNECTION_DESTROYED'

/** Sends statements that are each whole by themselves, and wait for no transaction of the ledger. */
export type Aside = { readonly send: Send; close(): Promise<void> }

export function connectAside(database: Database): Aside {
  const pool = createPool(database, { ...short, connections: asideMax, isReadOnly: false }, isConnectionError)
  return { send: (query) => pool.use((send) => send(query)), close: pool.close }
}

/** The connection failed, not the query. */
const isConnectionError = (error: unknown): boolean => {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  return severity === undefined || /^(?:08|57P|25P03)/.test(String(code))
}

type Terms = Timeouts & {
  readonly connections: number
  readonly isReadOnly: boolean
}

const openConnections = ({ url, password, connectSeconds = connectSecondsMax }: Database, terms: Terms) =>
  postgres(url, {
    max: terms.connections,
    // A standby would answer what was true a while ago.
    target_session_attrs: 'primary',
    ...(password && { password: () => password.reveal() }),
    connect_timeout: connectSeconds,
    // The library would end a connection of some age between two statements of a transaction.
    max_lifetime: null,
    onnotice: () => undefined,
    // We ask for no arrays, so their types need not be looked up.
    fetch_types: false,
    // Numbers of 64 bits: ids, times and block numbers, all far below 2^53.
    types: { int8: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      application_name: 'svc-facilitator',
      statement_timeout: terms.statementMs,
      idle_in_transaction_session_timeout: terms.restMs,
      default_transaction_read_only: terms.isReadOnly,
      // Whoever is told of a commit may burn for it, whatever the server does by default.
      synchronous_commit: 'on',
      bytea_output: 'hex',
      // The server gives up a connection whose cable was cut within half a minute, and not after hours.
      tcp_keepalives_idle: 15,
      tcp_keepalives_interval: 5,
      tcp_keepalives_count: 3,
    },
  })

function createPool(database: Database, terms: Terms, isBroken: (error: unknown) => boolean) {
  const open = () => openConnections(database, terms)
  let pool = open()
  let isClosed = false
  return {
    /**
     * After a failure the connections are thrown away: the library may wait for ever for an answer from one that is
     * ending, and the end of a connection takes its transaction back.
     */
    async use<T>(work: (send: Send) => Promise<T>): Promise<T> {
      if (isClosed) throw new SvcError('ledger_failed', 'the ledger is closed')
      const used = pool
      const send: Send = ({ text, values }) =>
        used.unsafe(numbered(text), [...values] as Value[], { prepare: true }).execute()
      try {
        return await answered(work(send), terms.answerMs)
      } catch (error) {
        if (!(error instanceof SvcError) && isBroken(error) && pool === used && !isClosed) {
          used.end({ timeout: 0 }).catch(() => undefined)
          pool = open()
        }
        throw isStandby(error)
          ? new Error('it is a standby, or ended the connection', { cause: error })
          : error
      }
    },
    close() {
      isClosed = true
      return pool.end({ timeout: 1 })
    },
  }
}

/** Throws when there is no answer in time. */
async function answered<T>(work: Promise<T>, answerMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the database does not answer')), answerMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

const texts = new Map<string, string>()
/** Questions with many filters have many texts. */
const textsMax = 1_000

/** The text with the places of PostgreSQL, `$1`, `$2` and so on. */
function numbered(text: string): string {
  const known = texts.get(text)
  if (known !== undefined) return known
  let place = 0
  const made = text.replaceAll('?', () => `$${++place}`)
  if (texts.size >= textsMax) texts.clear()
  texts.set(text, made)
  return made
}

/** A change without `RETURNING` has no rows: its sender need not wait for it. */
const hasRows = ({ text }: Query): boolean => /^\s*(?:SELECT|WITH)\b|\bRETURNING\b/i.test(text)

/**
 * Runs a step over a connection. Changes are sent and not waited for: `sent` gets them, and the step has happened when
 * all of them have.
 */
export async function runStep<T>(step: Step<T>, send: Send, sent: Promise<unknown>[] = []): Promise<T> {
  let next = step.next()
  while (!next.done) {
    const answer = send(next.value)
    if (!hasRows(next.value)) {
      // The owner of the list hears of a failure.
      answer.catch(() => undefined)
      sent.push(answer)
      next = step.next([])
      continue
    }
    let rows: readonly Row[]
    try {
      rows = await answer
    } catch (error) {
      next = step.throw(error)
      continue
    }
    next = step.next(rows)
  }
  return next.value
}
