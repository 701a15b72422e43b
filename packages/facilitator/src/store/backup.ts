/**
 * A backup: one file with the whole ledger, also while the daemon runs. It leaves out what must not be restored: ready
 * addresses, which may have been handed out since. The copy knows that it is one.
 */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { SvcError } from '@svc-zerc20/protocol'
import { databaseOf, makePrivate } from './engine/open-database.js'
import { type Connection, openSqlite } from './engine/sqlite.js'
import { syncPath } from './journal/disk.js'
import { sql } from './sql.js'

/** Throws `SvcError('ledger_unusable')` when there is nothing to copy, or the copy exists. */
export function backUp(journal: string, file: string): { readonly events: number } {
  const database = databaseOf(journal)
  if (!existsSync(database)) throw unusable(`${database} is not there: nothing was recorded yet`)
  if (existsSync(file)) throw unusable(`${file} exists; give the backup another name`)
  // Not a reader's connection, which may not even write to another file. It changes nothing here, and leaves checkpoints
  // to the daemon.
  const source = openSqlite(database)
  try {
    source.exec('PRAGMA wal_autocheckpoint = 0')
    return copyAsBackup(source, file)
  } finally {
    source.close()
  }
}

/** The file is in its place when it is whole and on the disk. */
function copyAsBackup(source: Connection, file: string): { readonly events: number } {
  const unfinished = `${file}.new`
  rmSync(unfinished, { force: true })
  makePrivate(unfinished)
  source.query(sql`VACUUM INTO ${unfinished}`)
  const copy = openSqlite(unfinished)
  try {
    copy.exec('PRAGMA journal_mode = DELETE')
    copy.query(sql`UPDATE ledger SET state = 'copy'`)
    copy.query(sql`DELETE FROM ready`)
    const [ledger] = copy.query(sql`SELECT applied FROM ledger`)
    return { events: ledger?.applied }
  } finally {
    copy.close()
    syncPath(unfinished)
    renameSync(unfinished, file)
  }
}

const unusable = (why: string) => new SvcError('ledger_unusable', `settlement.journal: ${why}`)
