/** The command line of `svc-facilitator`: commands, options and help. Their actions are given from outside. */

import { exitCodes } from '@svc-zerc20/daemon'
import { type ChallengeNonce, parseChallengeNonce } from '@svc-zerc20/protocol'
import { Command, InvalidArgumentError, Option } from 'commander'
import { registerAdminCommands, registerSweepCommand } from './commands/admin/commands.js'
import { registerHistoryCommands } from './commands/history/commands.js'
import type { Environment } from './config/secrets/environment.js'

export type Actions = {
  check(file: string, options: { json: boolean }): Promise<void>
  start(file: string, options: { acceptJournal: boolean }): Promise<void>
  config(file: string): Promise<void>
  recover(file: string, options: RecoverCommand): Promise<void>
  audit(file: string, options: AuditCommand): Promise<void>
  backup(file: string, to: string): Promise<void>
  puzzles(file: string, options: { readonly count: number }): Promise<void>
  mine(options: MineCommand): Promise<void>
  move(file: string, to: string): Promise<void>
  migrate(file: string, options: { readonly dryRun: boolean }): Promise<void>
  decide(options: DecideCommand): Promise<void>
}

export type AuditCommand = {
  readonly since: number
  readonly until: number
  readonly url?: string
  readonly json: boolean
}

export type DecideCommand = {
  readonly artifacts: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly processes: number
}

export type MineCommand = { readonly to: string; readonly threads: number; readonly full: number }

export type RecoverCommand = {
  readonly json: boolean
  readonly nonces: readonly ChallengeNonce[]
  readonly ledgerIds: readonly string[]
  readonly powBits: readonly number[]
  readonly acceptJournal: boolean
}

const exitCodesHelp = `
Exit codes:
  ${exitCodes.ok}   done, stopped, or nothing failed
  ${exitCodes.mistake}   a mistake in configuration, environment or command line; fix it first
  ${exitCodes.tryAgain}  nothing to fix here, for example the RPC is down; try again later`

const environmentHelp = `
Environment (keys are never read from the file):
  SVC_TREASURY_PK  seed of the burn secrets, and sends fees from the treasury in custodial mode, required
  SVC_RELAYER_PK   pays gas for relayed burns and mints, required
  SVC_MINTER_PK    pays gas for mints instead, so that burns and mints have no sender in common
  SVC_ADMIN_TOKEN  bearer token of /admin/*, required unless local on loopback
  SVC_DECIDER_TOKEN  bearer token of the decider; set, batch proofs and their secrets go to network.decider_url
  PAYMENT_HISTORY_PATH, HISTORY_*  the payment history, all of its group or none; docs/reference/environment.md`

const recoverHelp = `
Needs the journal, so stop the daemon first. It looks at the helper's events, which also tell of payments that no journal
knows any more, and at the addresses of the nonces that it is given. What is missing in the journal is put on record, and
the daemon mints it once it is started: this command sends nothing. It may be killed and run again at any time. Progress
goes to standard error, the burns to standard output.

Exit codes:
  ${exitCodes.ok}   every burn that was found is on record
  ${exitCodes.mistake}   a mistake in configuration, environment or command line, or a burn that our own relayer sent and whose address
     does not derive from them; fix it first
  ${exitCodes.tryAgain}  nothing to fix here: the journal is in use, or the RPC is down`

const acceptJournalOption = [
  '--accept-journal',
  'go on with a journal that is not the newest, or whose relayer key was used elsewhere',
  false,
] as const

const examples = (...lines: string[]) => `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`

/** Builds the program; `parseAsync` runs it. */
export function createProgram(version: string, actions: Actions, env: Environment): Command {
  const program = new Command('svc-facilitator')
    .description('Issues one-time burn addresses, verifies and settles svc-zerc20 payments over x402 v2.')
    .version(version)
    .showHelpAfterError('(add --help for usage)')
    .addHelpText(
      'after',
      [
        examples(
          'svc-facilitator check --config facilitator.toml',
          'svc-facilitator start --config facilitator.toml',
        ),
        environmentHelp,
        exitCodesHelp,
      ].join('\n'),
    )
  addCheck(program, actions)
  addStart(program, actions)
  addRecover(program, actions)
  addConfig(program, actions)
  addAudit(program, actions)
  addBackup(program, actions)
  addMigrate(program, actions)
  addMove(program, actions)
  addPuzzles(program, actions)
  addMine(program, actions)
  registerSweepCommand(program, env)
  addDecide(program, actions)
  registerAdminCommands(program, env)
  registerHistoryCommands(program, env)
  return program
}

/** A command that works on a configuration file. */
const commandOf = (program: Command, name: string, description: string): Command =>
  program
    .command(name)
    .description(description)
    .requiredOption('--config <file>', 'configuration file (TOML)')

function addCheck(program: Command, actions: Pick<Actions, 'check'>): void {
  commandOf(
    program,
    'check',
    'find every problem of configuration, keys, chain, contracts and journal; starts nothing',
  )
    .option('--json', 'print the findings as one JSON object', false)
    .addHelpText(
      'after',
      [
        '\nPrints one line per finding, "ok", "warn" or "fail", then the key and what was found.\nOnly reads: it writes no file and sends no transaction.',
        examples(
          'svc-facilitator check --config facilitator.toml',
          'svc-facilitator check --config facilitator.toml --json | jq .findings',
        ),
        environmentHelp,
        exitCodesHelp,
      ].join('\n'),
    )
    .action(({ config, json }: { config: string; json: boolean }) => actions.check(config, { json }))
}

function addStart(program: Command, actions: Pick<Actions, 'start'>): void {
  commandOf(program, 'start', 'run the daemon, after the same checks')
    .option(...acceptJournalOption)
    .addHelpText(
      'after',
      [
        '\nLogs JSON lines to standard output; "facilitator.listening" tells the URL, and "facilitator.ready" that\npayments can be taken. SIGTERM or SIGINT ends it after the\nwork under way, a second one at once.',
        examples('svc-facilitator start --config facilitator.toml'),
        environmentHelp,
        exitCodesHelp,
      ].join('\n'),
    )
    .action(({ config, acceptJournal }: { config: string; acceptJournal: boolean }) =>
      actions.start(config, { acceptJournal }),
    )
}

const decideHelp = `
Serves POST /jobs and GET /jobs/{id} to whoever has the token, and GET /healthz to everybody. A job's witness holds the
secrets of its burn addresses: run it yourself, and put TLS before it unless it listens on loopback alone. Jobs are kept
in memory; after a restart a facilitator submits them again. Logs JSON lines; "decider.ready" tells the URL.

Environment:
  SVC_DECIDER_TOKEN  bearer token, at least 16 characters, the same as at the facilitator; required`

function addDecide(program: Command, actions: Pick<Actions, 'decide'>): void {
  program
    .command('decide')
    .description('run a decider, which makes batch proofs for facilitators elsewhere')
    .requiredOption('--artifacts <folder>', 'proving keys, the same as at the facilitator')
    .addOption(
      new Option('--listen <host:port>', 'where to serve')
        .argParser(endpoint)
        .default(endpoint('127.0.0.1:8081'), '127.0.0.1:8081'),
    )
    .option('--processes <number>', 'proofs at once, each in a process of its own', whole(1, 64), 1)
    .addHelpText(
      'after',
      [
        decideHelp,
        examples('svc-facilitator decide --artifacts artifacts --listen 127.0.0.1:8081'),
        exitCodesHelp,
      ].join('\n'),
    )
    .action((options: DecideCommand) => actions.decide(options))
}

function endpoint(text: string): DecideCommand['listen'] {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? []
  if (host === '' || Number(port) > 65_535)
    throw new InvalidArgumentError('a host and a port, such as 127.0.0.1:8081.')
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
}

function addRecover(program: Command, actions: Pick<Actions, 'recover'>): void {
  commandOf(
    program,
    'recover',
    'put burns on record that the chain has and the journal lost; the daemon mints them',
  )
    .option(...acceptJournalOption)
    .option('--json', 'print the burns as one JSON object', false)
    .option(
      '--nonce <nonce...>',
      'challenge nonces of payers who paid by a transfer of their own and of whom no record is left',
      collectNonce,
      [],
    )
    .option(
      '--ledger-id <id...>',
      'ids of ledgers that minted in batches and whose journals are lost: "admin status" and "facilitator.ready" told them',
      collectLedgerId,
      [],
    )
    .option(
      '--pow-bits <bits...>',
      'values that zerc20.pow_bits had in the past; smaller ones than now are tried anyhow',
      collectPowBits,
      [],
    )
    .addHelpText(
      'after',
      [
        examples(
          'svc-facilitator recover --config facilitator.toml',
          'svc-facilitator recover --config facilitator.toml --json > burns.json',
        ),
        environmentHelp,
        recoverHelp,
      ].join('\n'),
    )
    .action((options: Omit<RecoverCommand, 'nonces' | 'ledgerIds'> & RecoverLists) => {
      const { config, nonce: nonces, ledgerId: ledgerIds, ...rest } = options
      return actions.recover(config, { ...rest, nonces, ledgerIds })
    })
}

const auditHelp = `
Reads only. Asks the daemon for its books, with SVC_ADMIN_TOKEN, and the chain; it needs no key. Compares what the books say
was burned, minted and swept with the chain, payment by payment and mint by mint, and prints a line for each difference. A
payment belongs to a period by the time of its challenge. Sweeps are compared since the first payment.

Exit codes:
  ${exitCodes.ok}   chain and books agree
  ${exitCodes.mistake}   they differ, or a mistake in configuration, environment or command line
  ${exitCodes.tryAgain}  the daemon or the RPC does not answer`

function addAudit(program: Command, actions: Pick<Actions, 'audit'>): void {
  commandOf(program, 'audit', 'compare the books with the chain: burned, minted, swept, due and stuck')
    .option(
      '--since <time>',
      'payments from this time on: unix seconds, or a date such as 2026-11-01',
      timeOf,
      0,
    )
    .addOption(
      new Option('--until <time>', 'payments before this time')
        .argParser(timeOf)
        .default(Number.POSITIVE_INFINITY, 'now'),
    )
    .option('--url <url>', 'where the daemon listens, unless the configuration says it')
    .option('--json', 'print the report as one JSON object', false)
    .addHelpText(
      'after',
      [
        examples(
          'svc-facilitator audit --config facilitator.toml',
          'svc-facilitator audit --config facilitator.toml --since 2026-11-01 --until 2026-12-01 --json',
        ),
        auditHelp,
      ].join('\n'),
    )
    .action(({ config, ...options }: AuditCommand & { config: string }) => actions.audit(config, options))
}

const backupHelp = `
Also while the daemon runs. The file is a whole ledger: payments, found transfers, sweeps, and everything that the history
shows. Ready addresses are not in it, because they may be handed out meanwhile. Keep the keys elsewhere: they are in no file.
How to restore it: docs/guides/recover-after-a-crash.md.

Exit codes:
  ${exitCodes.ok}   the file is complete and on the disk
  ${exitCodes.mistake}   nothing is recorded yet, the file exists, or a mistake in the configuration`

function addBackup(program: Command, actions: Pick<Actions, 'backup'>): void {
  commandOf(program, 'backup', 'copy the ledger into one file')
    .argument('<file>', 'where to; nothing may be there')
    .addHelpText(
      'after',
      [examples('svc-facilitator backup /backup/ledger.db --config facilitator.toml'), backupHelp].join('\n'),
    )
    .action((file: string, { config }: { config: string }) => actions.backup(config, file))
}

const migrateHelp = `
A start does the same: this command is for operators who want to look first, or whose daemons may not change tables. A
database is changed in one transaction. Daemons of the version before that run meanwhile go on, or write nothing more where
the new tables would break them; the dry run says which. A database with newer tables than this program knows is refused.

Exit codes:
  ${exitCodes.ok}   the tables have the newest version, or would have
  ${exitCodes.mistake}   the tables are newer, or a mistake in the configuration
  ${exitCodes.tryAgain}  the journal is in use, or the database cannot be reached`

function addMigrate(program: Command, actions: Pick<Actions, 'migrate'>): void {
  commandOf(program, 'migrate', 'bring the tables of the ledger to the version of this program')
    .option('--dry-run', 'print what would be done, and change nothing', false)
    .addHelpText(
      'after',
      [examples('svc-facilitator migrate --config facilitator.toml --dry-run'), migrateHelp].join('\n'),
    )
    .action(({ config, dryRun }: { config: string; dryRun: boolean }) => actions.migrate(config, { dryRun }))
}

const moveHelp = `
Stop the daemons first. With settlement.journal the ledger goes to the database at --to, with storage.url to the journal at
--to. Every row is copied and compared, in one transaction, and the ledger keeps its id. The place that it left says where it
went, so that no daemon starts there by mistake. A move that was cut off is run again, to the same place; until then neither
place can be used. Nothing may be at --to. Progress goes to standard error. The configuration is changed by you.

Environment:
  SVC_STORAGE_PASSWORD  password of the database, on whichever side it is

Exit codes:
  ${exitCodes.ok}   the ledger is at its new place
  ${exitCodes.mistake}   there is a ledger at --to, it was moved before, or a mistake in the configuration
  ${exitCodes.tryAgain}  a daemon uses the ledger, or the database cannot be reached`

function addMove(program: Command, actions: Pick<Actions, 'move'>): void {
  commandOf(program, 'move', 'move the ledger from its files to a PostgreSQL database, or back')
    .requiredOption('--to <place>', 'postgres://user@host/database, or the path of a journal')
    .addHelpText(
      'after',
      [
        examples(
          'svc-facilitator move --config facilitator.toml --to postgres://svc@db.example/svc',
          'svc-facilitator move --config facilitator.toml --to /var/lib/svc-facilitator/journal.jsonl',
        ),
        moveHelp,
      ].join('\n'),
    )
    .action(({ config, to }: { config: string; to: string }) => actions.move(config, to))
}

const puzzlesHelp = `
A puzzle is a line of JSON with the secret of one address. Whoever has it can find the address, see which burn on the chain is
paid to it, and connect that burn with its mint. It cannot take or redirect the money, and it learns nothing of other
addresses. Send puzzles only over a private channel, and keep none: they are as good as new ones.

Environment:
  SVC_TREASURY_PK       seed of the burn secrets, required
  SVC_STORAGE_PASSWORD  password of the database, where payments are minted in batches: their addresses need the ledger's id`

function addPuzzles(program: Command, actions: Pick<Actions, 'puzzles'>): void {
  commandOf(program, 'puzzles', 'print puzzles, of which "mine" makes addresses on other machines')
    .addOption(
      new Option('--count <number>', 'how many')
        .argParser(whole(1, 1e9))
        .default(Number.POSITIVE_INFINITY, 'until nobody reads them'),
    )
    .addHelpText(
      'after',
      [
        examples(
          'svc-facilitator puzzles --config facilitator.toml --count 1000 > puzzles.jsonl',
          'svc-facilitator puzzles --config facilitator.toml | ssh miner svc-facilitator mine --to postgres://miner@db.example/svc',
        ),
        puzzlesHelp,
      ].join('\n'),
    )
    .action(({ config, count }: { config: string; count: number }) => actions.puzzles(config, { count }))
}

const mineHelp = `
Reads puzzles from standard input, finds their addresses and puts them into the table "ready" of a ledger on PostgreSQL, from
where every daemon takes them. It needs no configuration and no key, only a role that may insert into that table and count it:

  CREATE ROLE miner LOGIN PASSWORD '…';
  GRANT INSERT (nonce, record), SELECT (id) ON ready TO miner;

A daemon derives each address again before it hands it out, so a wrong one is dropped. Addresses a second go to standard error.

Environment:
  SVC_STORAGE_PASSWORD  password of the role

Exit codes:
  ${exitCodes.ok}   all puzzles were solved, or it was stopped
  ${exitCodes.mistake}   a line is no puzzle, or a mistake in the command line
  ${exitCodes.tryAgain}  the database cannot be reached`

function addMine(program: Command, actions: Pick<Actions, 'mine'>): void {
  program
    .command('mine')
    .description('make addresses of puzzles, for the daemons of a database')
    .requiredOption('--to <url>', 'the database: postgres://miner@host/database')
    .option('--threads <number>', 'puzzles at once', whole(1, 256), 1)
    .addOption(
      new Option('--full <number>', 'rest while so many addresses are ready')
        .argParser(whole(1, 1e9))
        .default(10_000),
    )
    .addHelpText(
      'after',
      [
        examples('svc-facilitator mine --to postgres://miner@db.example/svc --threads 8 < puzzles.jsonl'),
        mineHelp,
      ].join('\n'),
    )
    .action((options: MineCommand) => actions.mine(options))
}

const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const number = Number(text)
    if (Number.isInteger(number) && number >= least && number <= most) return number
    throw new InvalidArgumentError(`a whole number from ${least} to ${most}.`)
  }

function timeOf(text: string): number {
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : Date.parse(text) / 1000
  if (!Number.isFinite(seconds)) throw new InvalidArgumentError('unix seconds, or a date such as 2026-11-01.')
  return Math.floor(seconds)
}

function addConfig(program: Command, actions: Pick<Actions, 'config'>): void {
  commandOf(program, 'config', 'print the configuration with every default, without secrets')
    .addHelpText('after', examples('svc-facilitator config --config facilitator.toml'))
    .action(({ config }: { config: string }) => actions.config(config))
}

type RecoverLists = {
  readonly config: string
  readonly nonce: readonly ChallengeNonce[]
  readonly ledgerId: readonly string[]
}

function collectLedgerId(text: string, others: readonly string[]): string[] {
  if (!/^[0-9a-f]{32}$/.test(text)) throw new InvalidArgumentError('expected 32 hex digits')
  return [...others, text]
}

/** As of `zerc20.pow_bits`. */
const powBitsMax = 32

function collectPowBits(text: string, others: readonly number[]): number[] {
  const bits = Number(text)
  if (!/^\d{1,2}$/.test(text) || bits > powBitsMax)
    throw new InvalidArgumentError(`expected a number up to ${powBitsMax}`)
  return [...others, bits]
}

function collectNonce(text: string, others: readonly ChallengeNonce[]): ChallengeNonce[] {
  const nonce = parseChallengeNonce(text)
  if (nonce === undefined) throw new InvalidArgumentError('expected 0x and 64 hex digits')
  return [...others, nonce]
}
