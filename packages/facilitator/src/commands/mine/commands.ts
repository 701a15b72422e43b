/** `puzzles` and `mine`: addresses for the daemons of a database, made on any machine. */
import { exitCodes, onStopSignal } from '@svc-zerc20/daemon'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { type Command, Option } from 'commander'
import { loadConfig } from '../../config/config.js'
import { readStoragePassword, readTreasuryKey } from '../../config/secrets/secrets.js'
import { addCommand, addConfigured, examples, type Shell, say, whole } from '../shell.js'
import { databaseOf } from '../storage/commands.js'

const puzzlesHelp = `
A puzzle is a line of JSON with the secret of one address. Whoever has it can find the address, see which burn on the chain is
paid to it, and connect that burn with its mint. It cannot take or redirect the money, and it learns nothing of other
addresses. Send puzzles only over a private channel, and keep none: they are as good as new ones.

Environment:
  SVC_TREASURY_PK       seed of the burn secrets, required
  SVC_STORAGE_PASSWORD  password of the database, where payments are minted in batches: their addresses need the ledger's id`

export function addPuzzles(program: Command, { env }: Shell): void {
  addConfigured(
    program,
    'puzzles',
    'print puzzles, of which "mine" makes addresses on other machines',
    examples(
      'svc-facilitator puzzles --config facilitator.toml --count 1000 > puzzles.jsonl',
      'svc-facilitator puzzles --config facilitator.toml | ssh miner svc-facilitator mine --to postgres://miner@db.example/svc',
    ),
    puzzlesHelp,
  )
    .addOption(
      new Option('--count <number>', 'how many')
        .argParser(whole(1, 1e9))
        .default(Number.POSITIVE_INFINITY, 'until nobody reads them'),
    )
    .action(async ({ config: file, count }: { config: string; count: number }) => {
      const config = loadConfig(file)
      const { printPuzzles } = await import('./puzzles.js')
      await printPuzzles({
        config,
        treasuryKey: readTreasuryKey(env),
        database: databaseOf(config, env),
        count,
        clock: systemClock,
        output: process.stdout,
      })
    })
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

type MineCommand = { readonly to: string; readonly threads: number; readonly full: number }

export function addMine(program: Command, shell: Shell): void {
  addCommand(
    program,
    'mine',
    'make addresses of puzzles, for the daemons of a database',
    examples('svc-facilitator mine --to postgres://miner@db.example/svc --threads 8 < puzzles.jsonl'),
    mineHelp,
  )
    .requiredOption('--to <url>', 'the database: postgres://miner@host/database')
    .option('--threads <number>', 'puzzles at once', whole(1, 256), 1)
    .addOption(
      new Option('--full <number>', 'rest while so many addresses are ready')
        .argParser(whole(1, 1e9))
        .default(10_000),
    )
    .action((options: MineCommand) => mine(options, shell))
}

async function mine({ to, ...options }: MineCommand, { env, output }: Shell): Promise<void> {
  const [{ mineAddresses }, { openReadyTable }] = await Promise.all([
    import('./mine.js'),
    import('../../store/postgres/ready.js'),
  ])
  const table = openReadyTable({ url: to, password: readStoragePassword(env) })
  const stopping = new AbortController()
  onStopSignal(
    () => stopping.abort(),
    () => void output.exit(exitCodes.ok),
  )
  const { signal: stopped } = stopping
  const told = await mineAddresses({
    ...options,
    input: process.stdin,
    table,
    clock: systemClock,
    stopped,
    say,
  })
  await table.close()
  process.stdout.write(`${told}\n`)
  await output.exit(exitCodes.ok)
}
