/** `svc-facilitator migrate`: brings the tables of the ledger to the version of this program, before a start does. */
import type { Config } from '../../config/config.js'
import { migrateBeside } from '../../store/engine/open-database.js'
import { lockJournal } from '../../store/journal/lock.js'
import { type Migration, migrations, versionBehind } from '../../store/migrate.js'
import { connect, type Database } from '../../store/postgres/client.js'
import { lacked, prepareSchema } from '../../store/postgres/prepare-schema.js'

type MigrateDeps = {
  readonly config: Config
  readonly database: Database | undefined
  readonly isDryRun: boolean
}

/** Gives the lines to print. */
export async function migrateLedger({ config, database, isDryRun }: MigrateDeps): Promise<string> {
  if (database) return told('storage.url', isDryRun, await inDatabase(database, isDryRun))
  const lock = await lockJournal(config.settlement.journal)
  try {
    return told('settlement.journal', isDryRun, migrateBeside(lock.path, { isDryRun }))
  } finally {
    await lock.release()
  }
}

/** The migrations that were made or, on a dry run, would be. Undefined where there are no tables yet. */
async function inDatabase(database: Database, isDryRun: boolean): Promise<readonly Migration[] | undefined> {
  const client = connect(database)
  const todo = await lacked(client).finally(client.close)
  if (!isDryRun && todo?.length !== 0) await prepareSchema(database)
  return todo
}

export function told(
  setting: string,
  isDryRun: boolean,
  done: readonly Migration[] | undefined,
  known = migrations,
): string {
  const newest = versionBehind(known)
  if (done === undefined)
    return `${setting}: no tables are there yet; version ${newest} ${isDryRun ? 'would be' : 'is'} made\n`
  if (done.length === 0) return `${setting}: the tables have version ${newest}; nothing is to be done\n`
  const lines = done.map(({ what, statements, isAdditive }, i) => {
    const version = newest - done.length + 1 + i
    const meanwhile = isAdditive ? 'daemons that run go on' : 'daemons that run write nothing more'
    return `${setting}: version ${version}: ${what}; ${meanwhile}\n${isDryRun ? `${statements.trim()}\n` : ''}`
  })
  return [...lines, isDryRun ? 'nothing was changed\n' : ''].join('')
}
