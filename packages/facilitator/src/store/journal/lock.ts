/**
 * One daemon per journal: a transaction in a small database beside the journal, open as long as the process lives. The
 * kernel ends it with the process, however that ends. Every process of the machine sees it, also in another container that
 * shares the folder. The database names the process for those who are refused.
 *
 * Only SQLite may open that file: a process that closes a file lets go of all its locks on it.
 */
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { makePrivate } from '../engine/open-database.js'
import { type Connection, openSqlite } from '../engine/sqlite.js'
import { sql } from '../sql.js'
import { identityOf } from './disk.js'

export type JournalLock = {
  /** The file itself, without symbolic links: two names of one journal meet at one lock. */
  readonly path: string
  /** Throws `SvcError('ledger_locked')` once our lock file is not in its place, and ever after. */
  assertHeld(): void
  release(): Promise<void>
}

/** Where the operator named the file, for errors. */
const journalSetting = 'settlement.journal'

/** The file itself, without symbolic links; a file that is still to be made has its folder. */
export function pathOf(name: string, setting = journalSetting): string {
  if (existsSync(name)) return realpathSync(name)
  if (lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new SvcError(
      'ledger_unusable',
      `${setting}: ${name} is a link to ${readlinkSync(name)}, which is not there. Mount the disk; for a new one make that file first, empty`,
    )
  }
  return join(realpathSync(dirname(name)), basename(name))
}

/** Throws as `lockJournal` does; leaves no trace. */
export async function assertUnlocked(name: string): Promise<void> {
  try {
    tryLock(pathOf(name))
  } catch (error) {
    throw unusable(error)
  }
}

/**
 * Throws `SvcError('ledger_locked')`, with the process that has it as `holder` if that is known, or
 * `SvcError('ledger_unusable')` when the file system refuses. `onLost` is called once if the lock file is taken away: another
 * daemon may then lock its own file.
 */
export async function lockJournal(
  name: string,
  onLost: (error: SvcError) => void = () => undefined,
  setting = journalSetting,
): Promise<JournalLock> {
  try {
    return lock(pathOf(name, setting), onLost, setting)
  } catch (error) {
    throw unusable(error, setting)
  }
}

/** An error of the file system, as an error of the configuration. */
export const unusable = (error: unknown, setting = journalSetting): SvcError =>
  error instanceof SvcError
    ? error
    : new SvcError('ledger_unusable', `${setting}: ${(error as Error).message}`, { cause: error })

/** How often a holder looks for its lock file while nothing is written. */
const pollMs = 2_000
/** How long the file of a process that is refused at this moment is waited for. */
const busyMs = 1_000

const lockFileOf = (path: string): string => `${path}.lock`

function tryLock(path: string): void {
  if (existsSync(lockFileOf(path))) closeLock(begin(path, journalSetting))
}

function lock(path: string, onLost: (error: SvcError) => void, setting: string): JournalLock {
  const file = lockFileOf(path)
  if (!existsSync(file)) makePrivate(file)
  const connection = begin(path, setting)
  try {
    connection.exec('CREATE TABLE IF NOT EXISTS holder (one INTEGER PRIMARY KEY, process INTEGER NOT NULL)')
    connection.query(sql`INSERT OR REPLACE INTO holder VALUES (1, ${process.pid})`)
    connection.exec('COMMIT')
    // A quicker process in between has the lock.
    hold(connection, path, setting)
  } catch (error) {
    connection.close()
    throw error
  }
  const identity = identityAt(file)
  let lost: SvcError | undefined
  function assertHeld(): void {
    if (!lost && identityAt(file) !== identity) {
      lost = new SvcError(
        'ledger_locked',
        `${setting}: ${file} was removed or replaced while the daemon was using it, so another daemon may write too. Nothing more is accepted`,
      )
      onLost(lost)
    }
    if (lost) throw lost
  }
  const looking = setInterval(() => {
    try {
      assertHeld()
    } catch {
      clearInterval(looking)
    }
  }, pollMs).unref()
  return {
    path,
    assertHeld,
    async release() {
      clearInterval(looking)
      closeLock(connection)
    },
  }
}

/** The binding closes a connection when its statements are collected; the lock must not wait for that. */
function closeLock(connection: Connection): void {
  connection.exec('ROLLBACK')
  connection.close()
}

/** A connection that has the lock. */
function begin(path: string, setting: string): Connection {
  const connection = openSqlite(lockFileOf(path))
  try {
    hold(connection, path, setting)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Readers are let in: they are told who holds it. */
function hold(connection: Connection, path: string, setting: string): void {
  try {
    connection.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE')
  } catch (error) {
    if (isBusy(error)) throw locked(path, holderIn(connection), setting)
    throw new Error(`${lockFileOf(path)}: ${(error as Error).message}; remove it if no daemon runs`)
  }
  connection.exec(`PRAGMA busy_timeout = ${busyMs}`)
}

const isBusy = (error: unknown): boolean => (error as { code?: string }).code === 'SQLITE_BUSY'

/** Undefined when it has not said so yet. */
function holderIn(connection: Connection): number | undefined {
  try {
    connection.exec(`PRAGMA busy_timeout = ${busyMs}`)
    return connection.query(sql`SELECT process FROM holder`)[0]?.process
  } catch {
    return undefined
  }
}

const identityAt = (file: string) => identityOf(statSync(file, { bigint: true, throwIfNoEntry: false }))

function locked(path: string, holder: number | undefined, setting: string): SvcError {
  const inUse = `${setting}: ${path} is in use by another daemon`
  return holder === undefined
    ? new SvcError('ledger_locked', inUse)
    : Object.assign(new SvcError('ledger_locked', `${inUse} (process ${holder})`), { holder })
}
