/** `recover` on the command line. */
import { exitCodes } from '@svc-zerc20/daemon'
import { type ChallengeNonce, parseChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import { type Log, levelOf } from '../../telemetry/events.js'
import { checked } from '../daemon.js'
import { acceptCopyOption, addConfigured, environmentHelp, examples, type Shell, say } from '../shell.js'

const recoverHelp = `
Needs the ledger, so stop the daemon first. It looks at the helper's events, which also tell of payments that no ledger
knows any more, and at the addresses of the nonces that it is given. What is missing in the ledger is put on record, and
the daemon mints it once it is started: this command sends nothing. It may be killed and run again at any time. Progress
goes to standard error, the burns to standard output.

Exit codes:
  ${exitCodes.ok}   every burn that was found is on record
  ${exitCodes.mistake}   a mistake in configuration, environment or command line, or a burn that our own relayer sent and whose address
     does not derive from them; fix it first
  ${exitCodes.tryAgain}  nothing to fix here: the ledger is in use, or the RPC is down`

export function addRecover(program: Command, shell: Shell): void {
  addConfigured(
    program,
    'recover',
    'put burns on record that the chain has and the ledger lost; the daemon mints them',
    examples(
      'svc-facilitator recover --config facilitator.toml',
      'svc-facilitator recover --config facilitator.toml --json > burns.json',
    ),
    environmentHelp,
    recoverHelp,
  )
    .option(...acceptCopyOption)
    .option('--json', 'print the burns as one JSON object', false)
    .option(
      '--nonce <nonce...>',
      'challenge nonces of payers who paid by a transfer of their own and of whom no record is left',
      collect(readNonce),
      [],
    )
    .option(
      '--log <file...>',
      'logs of the daemon, or of sellers that write down nonces: every nonce in them is looked at, as with --nonce',
      collect((file: string) => file),
      [],
    )
    .option(
      '--ledger-id <id...>',
      'ids of ledgers that minted in batches and whose journals are lost: "admin status" and "facilitator.ready" told them',
      collect(readLedgerId),
      [],
    )
    .option(
      '--pow-bits <bits...>',
      'values that zerc20.pow_bits had in the past; smaller ones than now are tried anyhow',
      collect(readPowBits),
      [],
    )
    .action((options: RecoverCommand) => recover(options, shell))
}

type RecoverCommand = {
  readonly config: string
  readonly json: boolean
  readonly acceptCopy: boolean
  readonly nonce: readonly ChallengeNonce[]
  readonly log: readonly string[]
  readonly ledgerId: readonly string[]
  readonly powBits: readonly number[]
}

async function recover(options: RecoverCommand, shell: Shell): Promise<void> {
  const { config: file, json, ledgerId: ledgerIds, powBits } = options
  const nonces = await noncesOf(options)
  const { ready } = await checked(file, 'recover', shell)
  const log: Log = (event) => {
    if (levelOf(event) !== 'info') say(Object.values(event).join(' '))
  }
  const { exitCodeOf, printRecovery, recoverBurns } = await import('./recover.js')
  const found = await recoverBurns({
    ...ready,
    isCopyAccepted: options.acceptCopy,
    powBits,
    nonces,
    ledgerIds,
    log,
    say,
  }).catch((error: unknown) => {
    const isLocked = error instanceof SvcError && error.code === 'ledger_locked'
    throw isLocked ? new SvcError(error.code, `${error.message}: stop it first`, { cause: error }) : error
  })
  process.stdout.write(printRecovery(found, { json }))
  process.exitCode = exitCodeOf(found)
}

async function noncesOf({ nonce, log: files }: RecoverCommand): Promise<readonly ChallengeNonce[]> {
  if (files.length === 0) return nonce
  const { loggedNonces } = await import('./find-burns.js')
  const logged = await Promise.all(
    files.map((file) =>
      loggedNonces(file).catch((cause: unknown) => {
        const { code } = cause as NodeJS.ErrnoException
        throw new SvcError('bad_option', `--log: ${file} cannot be read (${code})`, { cause })
      }),
    ),
  )
  const all = [...new Set([...nonce, ...logged.flat()])]
  say(`${all.length} nonces to look at; those on record cost nothing, each other one a proof of work`)
  return all
}

/** An option that may be given several times. */
const collect =
  <T>(read: (text: string) => T) =>
  (text: string, others: readonly T[]): T[] => [...others, read(text)]

function readNonce(text: string): ChallengeNonce {
  const nonce = parseChallengeNonce(text)
  if (nonce === undefined) throw new InvalidArgumentError('expected 0x and 64 hex digits')
  return nonce
}

function readLedgerId(text: string): string {
  if (!/^[0-9a-f]{32}$/.test(text)) throw new InvalidArgumentError('expected 32 hex digits')
  return text
}

/** As of `zerc20.pow_bits`. */
const powBitsMax = 32

function readPowBits(text: string): number {
  const bits = Number(text)
  if (!/^\d{1,2}$/.test(text) || bits > powBitsMax)
    throw new InvalidArgumentError(`expected a number up to ${powBitsMax}`)
  return bits
}
