/**
 * The command line of `svc-pay`: commands, options, help. Whatever needs a payer is loaded by the command that needs it:
 * most of a start is the loading of the chain's library.
 */
import { dirname } from 'node:path'
import {
  type BaseUnits,
  type ChallengeNonce,
  parseBaseUnits,
  parseChallengeNonce,
} from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { stateFolder } from '../environment/env.js'
import type { Environment } from '../environment/variables.js'
import { type ExitCode, exitCodes, exitCodeWords } from '../payer-error.js'
import { approve } from './approve.js'
import { history, limits, status } from './books.js'
import type { McpCommand } from './mcp.js'
import { type Io, type Report, run, writeFailure } from './output.js'
import { assertNotLimits, assertWritable, putAnswersIn } from './output-path.js'
import { inspect, type PayCommand, pay, quote } from './purchase.js'
import { type RequestOptions, requestOf } from './request.js'
import { resume } from './resume.js'
import { schema } from './schema.js'
import type { Session } from './session.js'
import type { VerifyCommand } from './statement.js'

export type ProgramPorts = {
  readonly version: string
  readonly environment: Environment
  readonly io: Io
  readonly stdin: NodeJS.ReadableStream
  readonly end: (code: ExitCode) => void
}

const exitHelp = `\nExit codes:\n${Object.entries(exitCodeWords)
  .map(([code, words]) => `  ${code}  ${words}`)
  .join('\n')}`

const limitsHelp = `
Limits come from the environment (SVC_MAX_TOTAL, SVC_ALLOWED_HOSTS and others) and never from arguments.
An option can make a limit tighter and never looser.`

type Json = { readonly json: boolean }

/** Runs the command line. Wrong arguments have the same exit code as a mistake in the environment. */
export async function runProgram(ports: ProgramPorts, args: readonly string[]): Promise<void> {
  const program = createProgram(ports)
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    const { exitCode, message } = error
    if (exitCode !== 0 && args.includes('--json')) {
      const known = program.commands.map((command) => command.name()).find((name) => name === args[0])
      writeFailure(ports.io, known ?? program.name(), { code: 'usage', message })
    }
    ports.end(exitCode === 0 ? exitCodes.ok : exitCodes.usage)
  }
}

/** Builds the program. */
export function createProgram(ports: ProgramPorts): Command {
  const { version, io } = ports
  const program = new Command('svc-pay')
    .description(
      'Pays for HTTP resources over x402 v2 with svc-zerc20, within limits that the operator sets.',
    )
    .version(version)
    .showHelpAfterError('(add --help for usage)')
    .addHelpText('after', limitsHelp + exitHelp)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) })
  const workbench = createWorkbench(program, ports)
  addPurchases(workbench, ports)
  addTools(workbench, ports)
  addBooks(workbench, ports)
  addStatements(workbench, ports)
  addDescriptions(workbench)
  return program
}

/** The building blocks of every command. */
function createWorkbench(program: Command, { environment, io, end }: ProgramPorts) {
  const command = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option('--json', 'print one JSON object of a stable shape', false)

  return {
    program,
    command,

    requesting: (name: string, description: string) =>
      command(name, description)
        .argument('<url>', 'what to request')
        .option('-X, --method <method>', 'method; POST when there is a body, GET otherwise')
        .option('-H, --header <header>', 'a header, as "Name: value"; may be repeated', collect, [])
        .option('-d, --data <text>', 'body of the request')
        .option('--body-file <file>', 'file with the body of the request, - for standard input'),

    /** Runs a command with the payer of the environment. */
    withPayer: async (
      name: string,
      { json }: Json,
      work: (session: Session) => Promise<Report>,
      options: { readonly page?: boolean } = {},
    ) =>
      end(
        await run(io, { command: name, json }, async (warn) => {
          const { openSession } = await import('./session.js')
          const session = openSession(environment, io, options)
          if (name !== 'doctor') for (const warning of session.warnings) warn(warning)
          return work(session)
        }),
      ),

    /** Runs a command that needs no payer. */
    alone: async (
      name: string,
      { json }: Json,
      work: (warn: (warning: string) => void) => Report | Promise<Report>,
    ) => end(await run(io, { command: name, json }, async (warn) => work(warn))),
  }
}

type Workbench = ReturnType<typeof createWorkbench>

/** Adds the commands that ask a seller. */
function addPurchases({ requesting, withPayer }: Workbench, ports: ProgramPorts): void {
  const { io } = ports

  requesting('quote', 'tell what a URL costs; needs no key').action(
    (url: string, options: RequestOptions & Json) =>
      withPayer('quote', options, async ({ payer }) => quote(payer, await requestOf(url, options, ports))),
  )

  requesting('inspect', 'explain the offer of a URL and what each rule says to it; pays nothing').action(
    (url: string, options: RequestOptions & Json) =>
      withPayer('inspect', options, async ({ payer }) =>
        inspect(payer, await requestOf(url, options, ports), io),
      ),
  )

  requesting('pay', 'request a URL, pay what it asks within the limits, print the answer')
    .option('-o, --output <file>', 'file for the answer instead of standard output')
    .option('--max <amount>', 'lower cap for this payment, in base units', readAmount)
    .option('--dry-run', 'stop before paying, as inspect does', false)
    .option('--page', 'also ask for approval on a page of this machine, shown at the terminal', false)
    .addHelpText('after', limitsHelp + exitHelp)
    .action((url: string, options: RequestOptions & PayCommand & Json & { page: boolean }) =>
      withPayer(
        'pay',
        options,
        async ({ payer, folder }) => {
          const { output } = options
          if (output === undefined) return pay(payer, await requestOf(url, options, ports), options, io)
          assertNotLimits(output, folder)
          await assertWritable(output)
          const put = await putAnswersIn(dirname(output), folder)
          return pay(payer, await requestOf(url, options, ports), { ...options, put }, io)
        },
        options,
      ),
    )
}

/** Adds the payer for agents, which runs until its client leaves. */
function addTools({ program }: Workbench, { environment, io, stdin, end }: ProgramPorts): void {
  program
    .command('mcp')
    .description(
      'serve the tools quote, pay, payment_status and budget to an MCP client, over standard input',
    )
    .option('--http <port>', 'over HTTP on 127.0.0.1 instead, with the bearer token SVC_MCP_TOKEN', readPort)
    .option('--page', 'also ask for approval on a page of this machine, shown at the terminal', false)
    .addHelpText('after', limitsHelp)
    .action(async (options: McpCommand) =>
      end(
        await run(io, { command: 'mcp', json: false }, async (warn) => {
          const { mcp } = await import('./mcp.js')
          return mcp(environment, options, io, { stdin, warn })
        }),
      ),
    )
}

/** Adds the commands about payments made, limits, open questions and the setup. */
function addBooks({ command, withPayer }: Workbench, { io }: ProgramPorts): void {
  command('status', 'tell what became of a payment, from the own store and the chain')
    .argument('<nonce>', 'challenge nonce of the payment', readNonce)
    .option('--facilitator <url>', 'ask this facilitator, too; it learns who asks')
    .action((nonce: ChallengeNonce, options: Json & { facilitator?: string }) =>
      withPayer('status', options, ({ payer }) => status(payer, nonce, options.facilitator)),
    )

  command('history', 'list what was bought and refused')
    .option('--csv', 'print comma-separated values', false)
    .option('--last <count>', 'how many', readCount, 100)
    .action((options: Json & { csv: boolean; last: number }) =>
      withPayer('history', options, ({ payer }) => history(payer, options)),
    )

  command('limits', 'tell the limits, what was spent, what is reserved and what is left').action(
    (options: Json) => withPayer('limits', options, ({ payer }) => limits(payer)),
  )

  command('approve', 'answer, at a terminal, the payments that wait for a human')
    .argument('[id]', 'beginning of the challenge nonce; all that wait without it')
    .option('--list', 'only list them', false)
    .action((id: string | undefined, options: Json & { list: boolean }) =>
      withPayer('approve', options, ({ approvals }) =>
        approve(approvals, { ...options, id }, io, systemClock),
      ),
    )

  command('resume', 'give out answers that were paid for, and finish interrupted payments; signs nothing')
    .option('--output <folder>', 'folder for the answers', '.')
    .action((options: Json & { output: string }) =>
      withPayer('resume', options, async ({ payer, folder }) => {
        assertNotLimits(options.output, folder)
        return resume(payer, options.output, folder, io)
      }),
    )

  command('doctor', 'look at environment, endpoint, token, helper, policy, state folder and clock').action(
    (options: Json) =>
      withPayer('doctor', options, async (session) => {
        const { doctor } = await import('./doctor.js')
        return doctor(session.payer, session, io)
      }),
  )
}

const statementHelp = `
Exit codes:
  ${exitCodes.ok}  valid, or done
  ${exitCodes.usage}  ${exitCodeWords[exitCodes.usage]}
  ${exitCodes.notValid}  ${exitCodeWords[exitCodes.notValid]}`

const verifyHelp = `
Needs no network, no key and no facilitator. FILE is a statement file, with manifest and revocations in it, or the text of a
bare statement. Where a file and an option give a manifest or a list, the newer one counts; what an option names must be
valid.
${statementHelp}`

/** Adds the commands about statements of payments. */
function addStatements({ command, alone }: Workbench, { environment }: ProgramPorts): void {
  command(
    'verify-statement',
    'check a statement about a payment, a total or a mint, and tell what it discloses',
  )
    .argument('<file>', 'the statement')
    .requiredOption('--trust-anchor <file>', 'public key of the issuer’s trust anchor, as JWK')
    .option('--audience <name>', 'for whom it must be made: you')
    .option('--nonce <nonce>', 'the nonce that you gave for it')
    .option('--require <claims>', 'claims that must be disclosed, with commas', readNames, [])
    .option('--manifest <file>', 'manifest of the issuer, if the file has none or an old one')
    .option('--manifest-seq <number>', 'number of the newest manifest that you know', readCount)
    .option('--revocations <file>', 'list of revocations, if the file has none or an old one')
    .option('--no-revocations', 'also take a statement that may be revoked')
    .addHelpText('after', verifyHelp)
    .action((file: string, options: Json & VerifyCommand) =>
      alone('verify-statement', options, async (warn) => {
        const { verify } = await import('./statement.js')
        return verify(file, options, systemClock, warn)
      }),
    )

  command('present-statement', 'pass a statement on with some of its claims, and without the others')
    .argument('<file>', 'the statement')
    .requiredOption('--disclose <claims>', 'claims to disclose, with commas', readNames)
    .requiredOption('--out <file>', 'where to write the statement; nothing is overwritten')
    .addHelpText('after', statementHelp)
    .action((file: string, options: Json & { disclose: readonly string[]; out: string }) =>
      alone('present-statement', options, async () => {
        assertNotLimits(options.out, stateFolderOf(environment.SVC_STATE_DIR, environment), '--out')
        const { present } = await import('./statement.js')
        return present(file, options)
      }),
    )
}

/** Undefined where nothing says where it is: then there is none to guard. */
function stateFolderOf(given: string | undefined, environment: Environment): string | undefined {
  try {
    return stateFolder(given, environment)
  } catch {
    return undefined
  }
}

/** Adds the commands that describe the command line. */
function addDescriptions({ program, command, alone }: Workbench): void {
  command('schema', 'print commands, options and exit codes as JSON, for agents').action((options: Json) =>
    alone('schema', options, () => schema(program)),
  )
}

const collect = (value: string, before: readonly string[]) => [...before, value]

function readAmount(text: string): BaseUnits {
  const amount = parseBaseUnits(text)
  if (amount === undefined) throw new InvalidArgumentError('expected a plain integer in base units')
  return amount
}

function readNonce(text: string): ChallengeNonce {
  const nonce = parseChallengeNonce(text)
  if (nonce === undefined) throw new InvalidArgumentError('expected 0x and 64 hex digits')
  return nonce
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('expected a positive integer')
  return Number(text)
}

function readNames(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new InvalidArgumentError('expected a port, or 0 for a free one')
  return port
}
