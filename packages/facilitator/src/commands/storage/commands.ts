/** `backup`, `migrate` and `move`: the files or the database of a ledger. */
import { exitCodes } from '@svc-zerc20/daemon'
import { SvcError } from '@svc-zerc20/protocol'
import type { Command } from 'commander'
import { type Config, loadConfig } from '../../config/config.js'
import type { Environment } from '../../config/secrets/environment.js'
import { readStoragePassword } from '../../config/secrets/secrets.js'
import { addConfigured, examples, type Shell, say } from '../shell.js'

const backupHelp = `
Also while the daemon runs. The file is a whole ledger: payments, found transfers, sweeps, and everything that the history
shows. Ready addresses are not in it, because they may be handed out meanwhile. Keep the keys elsewhere: they are in no file.
How to restore it: docs/guides/recover-after-a-crash.md.

Exit codes:
  ${exitCodes.ok}   the file is complete and on the disk
  ${exitCodes.mistake}   nothing is recorded yet, the file exists, or a mistake in the configuration`

export function addBackup(program: Command): void {
  const example = examples('svc-facilitator backup /backup/ledger.db --config facilitator.toml')
  addConfigured(program, 'backup', 'copy the ledger into one file', example, backupHelp)
    .argument('<file>', 'where to; nothing may be there')
    .action(async (to: string, { config: file }: { config: string }) => {
      const { settlement, storage } = loadConfig(file)
      if (storage.url !== undefined) {
        throw new SvcError(
          'config_invalid',
          'storage.url: a database is backed up by its own tools, pg_dump for example',
        )
      }
      const { backUp } = await import('../../store/backup.js')
      const { events } = backUp(settlement.journal, to)
      process.stdout.write(`${to}: ${events} events\n`)
    })
}

const migrateHelp = `
A start does the same: this command is for operators who want to look first, or whose daemons may not change tables. A
database is changed in one transaction. Daemons of the version before that run meanwhile go on, or write nothing more where
the new tables would break them; the dry run says which. A database with newer tables than this program knows is refused.

Exit codes:
  ${exitCodes.ok}   the tables have the newest version, or would have
  ${exitCodes.mistake}   the tables are newer, or a mistake in the configuration
  ${exitCodes.tryAgain}  the ledger is in use, or the database cannot be reached`

export function addMigrate(program: Command, { env }: Shell): void {
  const description = 'bring the tables of the ledger to the version of this program'
  const example = examples('svc-facilitator migrate --config facilitator.toml --dry-run')
  addConfigured(program, 'migrate', description, example, migrateHelp)
    .option('--dry-run', 'print what would be done, and change nothing', false)
    .action(async ({ config: file, dryRun: isDryRun }: { config: string; dryRun: boolean }) => {
      const config = loadConfig(file)
      const database = databaseOf(config, env)
      const { migrateLedger } = await import('./migrate.js')
      process.stdout.write(await migrateLedger({ config, database, isDryRun }))
    })
}

/** The database of the ledger, for commands that need no key. */
const databaseOf = ({ storage: { url } }: Config, env: Environment) =>
  url === undefined ? undefined : { url, password: readStoragePassword(env) }

const moveHelp = `
Stop the daemon first. Every row is copied and compared, in one transaction, and the ledger keeps its id. Its files say where it
went, so that no daemon starts there by mistake. A move that was cut off is run again, to the same database; until then neither
place can be used. No ledger may be at --to. Progress goes to standard error. The configuration is changed by you. There is no way
back.

Environment:
  SVC_STORAGE_PASSWORD  password of the database

Exit codes:
  ${exitCodes.ok}   the ledger is at its new place
  ${exitCodes.mistake}   there is a ledger at --to, it was moved before, or a mistake in the configuration
  ${exitCodes.tryAgain}  a daemon uses the ledger, or the database cannot be reached`

export function addMove(program: Command, { env }: Shell): void {
  addConfigured(
    program,
    'move',
    'move the ledger from its files to a PostgreSQL database',
    examples('svc-facilitator move --config facilitator.toml --to postgres://svc@db.example/svc'),
    moveHelp,
  )
    .requiredOption('--to <place>', 'postgres://user@host/database')
    .action(async ({ config: file, to }: { config: string; to: string }) => {
      const config = loadConfig(file)
      const { moveLedger } = await import('./move.js')
      process.stdout.write(await moveLedger({ config, to, password: readStoragePassword(env), say }))
    })
}
