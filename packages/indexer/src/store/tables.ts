/** A folder: tables in SQLite, for one token and one process at a time. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import Sqlite from 'libsql'

export type Tables = Sqlite.Database

/** Hashes, addresses and sums are bytes. Of the tree's nodes only complete ones are stored. */
const schema = `
  CREATE TABLE IF NOT EXISTS binding (one INTEGER PRIMARY KEY, text TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS place (
    name TEXT PRIMARY KEY, number INTEGER NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL, hash_chain BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS block (
    number INTEGER PRIMARY KEY, hash BLOB NOT NULL, size INTEGER NOT NULL, hash_chain BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS transfer (
    leaf INTEGER PRIMARY KEY, sender BLOB NOT NULL, receiver BLOB NOT NULL, value BLOB NOT NULL, hash_chain BLOB NOT NULL,
    root BLOB NOT NULL, tx_hash BLOB NOT NULL, block INTEGER NOT NULL, log_index INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS transfer_receiver ON transfer (receiver, leaf);
  CREATE INDEX IF NOT EXISTS transfer_root ON transfer (root);
  CREATE TABLE IF NOT EXISTS node (
    level INTEGER, position INTEGER, hash BLOB NOT NULL, PRIMARY KEY (level, position)) WITHOUT ROWID;`

/** Throws `SvcError('folder_locked')` or `SvcError('folder_unusable')`. */
export function openTables(folder: string): Tables {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const tables = new Sqlite(join(folder, 'indexer.db'))
    // The transaction takes the lock, which is kept until the tables are closed or the process ends.
    tables.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 0')
    inTransaction(tables, () => tables.exec(schema))
    return tables
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === 'SQLITE_BUSY') {
      throw new SvcError('folder_locked', `${folder}: another process has this folder open`, { cause: error })
    }
    throw new SvcError('folder_unusable', `${folder}: ${message}`, { cause: error })
  }
}

/** All changes or none, and on the disk before it returns. */
export function inTransaction(tables: Tables, change: () => void): void {
  tables.exec('BEGIN EXCLUSIVE')
  try {
    change()
    tables.exec('COMMIT')
  } catch (error) {
    try {
      tables.exec('ROLLBACK')
    } catch {
      // A full disk has taken the transaction back already.
    }
    throw error
  }
}

/** The library closes a connection when its statements are collected; the lock must not wait for that. */
export function closeTables(tables: Tables): void {
  tables.exec('PRAGMA locking_mode = NORMAL')
  tables.exec('SELECT count(*) FROM binding')
  tables.close()
}
