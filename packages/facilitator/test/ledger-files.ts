/** The files of a ledger, as an operator copies and restores them. */
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { databaseOf } from '../src/store/engine/open-database.js'
import { openSqlite } from '../src/store/engine/sqlite.js'
import { sql } from '../src/store/sql.js'

/** A copy of a ledger, also while its daemon runs. The journal comes last, so that it has every event of the database. */
export function copyLedger(journal: string, to: string): void {
  copyDatabase(journal, to)
  copyFileSync(journal, to)
}

/** Puts a backup in the place of a ledger whose daemon is stopped. */
export function restoreBackup(journal: string, backup: string): void {
  for (const end of ['', '.db', '.db-wal', '.db-shm', '.mark']) rmSync(`${journal}${end}`, { force: true })
  copyFileSync(backup, `${journal}.db`)
}

/** Nothing for a database that is not there. */
function copyDatabase(journal: string, to: string): void {
  if (!existsSync(databaseOf(journal))) return
  const source = openSqlite(databaseOf(journal))
  try {
    source.query(sql`VACUUM INTO ${databaseOf(to)}`)
  } finally {
    source.close()
  }
}
