/** `svc-facilitator admin …`: the administrative surface of a running daemon on the command line. */

import { exitCodes } from '@svc-zerc20/daemon'
import { SvcError } from '@svc-zerc20/protocol'
import type { Command } from 'commander'
import type * as z from 'zod'
import { readConfigFile } from '../../config/config.js'
import type { Environment } from '../../config/secrets/environment.js'
import * as Listen from '../../config/settings.js'
import * as schemas from '../../http/admin/schemas.js'
import { type AdminClient, createAdminClient, statusWithFees } from './client.js'
import { printAnswer } from './print.js'

const adminHelp = `
The token comes from SVC_ADMIN_TOKEN and from nowhere else: an argument would show in the list of processes.

Examples:
  svc-facilitator admin status
  svc-facilitator admin payments --phase accepted --limit 20
  svc-facilitator admin metrics | grep svc_mints
  svc-facilitator admin payment 0x… --json

Exit codes:
  ${exitCodes.ok}   done
  ${exitCodes.mistake}   refused: wrong token, no such payment, a mistake on the command line
  ${exitCodes.tryAgain}  no daemon answers there`

/** Where the daemon is: its address, or the configuration that names it. */
type Target = { readonly url?: string | undefined; readonly config?: string | undefined }

/** Options that every verb has. */
type Common = Target & { readonly json: boolean }

function clientOf({ url, config: file }: Target, env: Environment): AdminClient {
  const token = env.SVC_ADMIN_TOKEN
  if (url !== undefined || file === undefined)
    return createAdminClient({ url: url ?? 'http://127.0.0.1:4032', token })
  const { host, port } = readConfigFile(file).values.listen
  if (host === undefined || !port)
    throw new SvcError('config_invalid', `${file} does not say where the daemon listens`)
  return createAdminClient({ url: Listen.urlOf({ host, port }), token })
}

/** Prints an answer, as tables or as JSON. */
type Show = (options: Common, ask: (client: AdminClient) => Promise<unknown>) => Promise<void>

const showing =
  (env: Environment): Show =>
  async ({ json, ...target }, ask) => {
    const answer = await ask(clientOf(target, env))
    process.stdout.write(json ? `${JSON.stringify(answer, undefined, 2)}\n` : printAnswer(Object(answer)))
  }

/** Adds the options that say where the daemon is. */
const withTarget = (command: Command): Command =>
  command
    .option('--url <url>', 'where the daemon listens (default: "http://127.0.0.1:4032")')
    .option('--config <file>', 'take the address from this configuration file instead')

/** The options of a verb: where the daemon is, the form of the answer, and what is handed on to the daemon. */
type Query = Common & Record<string, string>

type Verb = (name: string, description: string) => Command

/** Adds the command `admin` with its verbs. */
export function registerAdminCommands(program: Command, env: Environment): void {
  const admin = program
    .command('admin')
    .description('ask or steer a running daemon through its administrative surface')
    .addHelpText('after', adminHelp)
  const verb: Verb = (name, description) =>
    withTarget(admin.command(name).description(description)).option(
      '--json',
      'print the answer as JSON',
      false,
    )
  const show = showing(env)
  const get = (command: Command, path: string, schema: z.ZodType) =>
    command.action(({ url, config, json, ...query }: Query) =>
      show({ url, config, json }, (client) => client.get(path, schema, query)),
    )
  const page = (command: Command) =>
    command
      .option('--after <cursor>', 'the page after this one')
      .option('--limit <count>', 'how many on the page')

  get(verb('status', 'the daemon at a glance'), '/status', schemas.status)
  verb('fees', 'fees that are due, under way and swept').action((options: Common) =>
    show(options, async (client) => (await statusWithFees(client)).fees),
  )
  withTarget(admin.command('metrics').description('every series, as Prometheus reads them')).action(
    async (target: Target) => void process.stdout.write(await clientOf(target, env).text('/metrics')),
  )
  const payments = verb('payments', 'payments, newest first')
    .option('--phase <phase>', 'open, expired, accepted or finalized')
    .option('--since <seconds>', 'issued at or after, unix seconds')
    .option('--until <seconds>', 'issued before, unix seconds')
  get(page(payments), '/payments', schemas.paymentPage)
  const late = page(verb('late', 'burns that bought nothing, and payments whose burn a reorg took'))
  get(late, '/late', schemas.oddBurns)
  registerPaymentVerbs(verb, show)
  registerIssuanceVerbs(verb, show)
}

function registerPaymentVerbs(verb: Verb, show: Show): void {
  verb('payment', 'one payment and its turns')
    .argument('<nonce>', 'challenge nonce')
    .action((nonce: string, options: Common) =>
      show(options, (client) => client.get(pathOf(nonce), schemas.paymentTimeline)),
    )

  verb('retry', 'try the mint of a payment again now')
    .argument('<nonce>', 'challenge nonce')
    .addHelpText('after', `\n${schemas.mintRetry.description}`)
    .action((nonce: string, options: Common) =>
      show(options, (client) => client.post(`${pathOf(nonce)}/retry`, schemas.mintRetry)),
    )
}

function registerIssuanceVerbs(verb: Verb, show: Show): void {
  verb('pause', 'issue no new challenges; everything under way goes on')
    .option('--message <text>', 'why, in one line; whoever asks for a challenge is told')
    .action(({ message, ...options }: Common & { message?: string }) =>
      show(options, (client) => client.post('/pause', schemas.issuance, { message })),
    )

  verb('resume', 'issue challenges again').action((options: Common) =>
    show(options, (client) => client.post('/resume', schemas.issuance)),
  )
}

const pathOf = (nonce: string) => `/payments/${encodeURIComponent(nonce)}`

const sweepHelp = `
Asks the running daemon, which has the journal and the treasury key. The daemon sweeps by itself every
fee.sweep_interval_secs; this command does not wait for that. Sums below fee.sweep_min stay where they are.
The answer comes when the transfer is signed and sent. "admin fees" tells when it is deep on the chain.

${schemas.sweepAnswer.description}

Examples:
  svc-facilitator sweep --dry-run
  svc-facilitator sweep --json

Exit codes:
  ${exitCodes.ok}   done, or there is nothing to sweep
  ${exitCodes.mistake}   refused: wrong token, or a mistake on the command line
  ${exitCodes.tryAgain}  no daemon answers there, or the sweep failed: the answer says why, and the fees stay due`

/** Adds the command `sweep`. */
export function registerSweepCommand(program: Command, env: Environment): void {
  withTarget(
    program
      .command('sweep')
      .description('have a running daemon send the fees that are due to their recipient'),
  )
    .option('--dry-run', 'only tell what would be swept', false)
    .option('--json', 'print the answer as JSON', false)
    .addHelpText('after', sweepHelp)
    .action(({ dryRun, ...options }: Common & { dryRun: boolean }) =>
      showing(env)(options, async (client) => {
        const answer = await client.post('/fees/sweep', schemas.sweepAnswer, { dryRun: `${dryRun}` })
        if (answer.sweep === 'failed') process.exitCode = exitCodes.tryAgain
        return answer
      }),
    )
}
