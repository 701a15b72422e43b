/** `svc-facilitator admin …`: the administrative surface of a running daemon on the command line. */
import { exitCodes } from '@svc-zerc20/daemon'
import { SvcError } from '@svc-zerc20/protocol'
import type { Command } from 'commander'
import type { z } from 'zod'
import type { Environment } from '../config/environment.js'
import * as schemas from '../http/schemas.js'
import { type AdminClient, createAdminClient } from './client.js'
import {
  printChallenges,
  printOddBurns,
  printPayments,
  printRelayer,
  printStatus,
  printTimeline,
} from './print.js'

type Common = { readonly url: string; readonly json: boolean }

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

/** Adds the command `admin` with its verbs; results go to standard output, failures to standard error. */
export function registerAdminCommands(program: Command, env: Environment): void {
  const admin = program
    .command('admin')
    .description('ask or steer a running daemon through its administrative surface')
    .addHelpText('after', adminHelp)

  const verb = (name: string, description: string) =>
    admin
      .command(name)
      .description(description)
      .option('--url <url>', 'where the daemon listens', 'http://127.0.0.1:4032')
      .option('--json', 'print the answer as JSON', false)

  /** An answer that has not its documented form comes from something that is not this daemon. */
  function show<T>(
    { url, json }: Common,
    schema: z.ZodType<T>,
    ask: (client: AdminClient) => Promise<unknown>,
    print: (answer: T) => string,
  ): Promise<void> {
    return tell(url, async (client) => {
      const answer = await ask(client)
      const read = schema.safeParse(answer)
      if (!read.success) throw new SvcError('admin_refused', `${url} answered with something else`)
      return json ? `${JSON.stringify(answer, undefined, 2)}\n` : print(read.data)
    })
  }

  async function tell(url: string, ask: (client: AdminClient) => Promise<string>): Promise<void> {
    try {
      process.stdout.write(await ask(createAdminClient({ url, token: env.SVC_ADMIN_TOKEN })))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      process.stderr.write(`fail ${message}\n`)
      const isAway = error instanceof SvcError && error.code === 'admin_unreachable'
      process.exitCode = isAway ? exitCodes.tryAgain : exitCodes.mistake
    }
  }

  verb('status', 'the daemon at a glance').action((options: Common) =>
    show(options, schemas.status, (client) => client.get('/status'), printStatus),
  )

  verb('relayer', 'the key that sends burns and mints: its money, its queue, what it spent').action(
    (options: Common) => show(options, schemas.relayerView, (client) => client.get('/relayer'), printRelayer),
  )

  verb('challenges', 'open challenges, newest first, and their cap')
    .option('--after <cursor>', 'the page after this one')
    .option('--limit <count>', 'challenges on the page')
    .action(({ url, json, ...query }: Common & Record<string, string>) =>
      show(
        { url, json },
        schemas.challengePage,
        (client) => client.get('/challenges', query),
        printChallenges,
      ),
    )

  admin
    .command('metrics')
    .description('every series, as Prometheus reads them')
    .option('--url <url>', 'where the daemon listens', 'http://127.0.0.1:4032')
    .action(({ url }: { url: string }) => tell(url, (client) => client.text('/metrics')))

  verb('payments', 'payments, newest first')
    .option('--phase <phase>', 'open, expired, accepted or finalized')
    .option('--since <seconds>', 'issued at or after, unix seconds')
    .option('--until <seconds>', 'issued before, unix seconds')
    .option('--after <cursor>', 'the page after this one')
    .option('--limit <count>', 'payments on the page')
    .action(({ url, json, ...query }: Common & Record<string, string>) =>
      show({ url, json }, schemas.paymentPage, (client) => client.get('/payments', query), printPayments),
    )

  verb('payment', 'one payment and its turns')
    .argument('<nonce>', 'challenge nonce')
    .action((nonce: string, options: Common) =>
      show(
        options,
        schemas.paymentTimeline,
        (client) => client.get(`/payments/${encodeURIComponent(nonce)}`),
        printTimeline,
      ),
    )

  verb('retry', 'try the mint of a payment again now')
    .argument('<nonce>', 'challenge nonce')
    .action((nonce: string, options: Common) =>
      show(
        options,
        schemas.mintRetry,
        (client) => client.post(`/payments/${encodeURIComponent(nonce)}/retry`),
        ({ mint }) => `${retryWords[mint]}\n`,
      ),
    )

  verb('late', 'burns that bought nothing')
    .option('--after <cursor>', 'the page after this one')
    .option('--limit <count>', 'late burns on the page')
    .action(({ url, json, ...query }: Common & Record<string, string>) =>
      show({ url, json }, schemas.oddBurns, (client) => client.get('/late', query), printOddBurns),
    )

  const printIssuance = ({ issuance }: { issuance: string }) => `issuance ${issuance}\n`

  verb('pause', 'issue no new challenges; everything under way goes on')
    .option('--message <text>', 'why, in one line; whoever asks for a challenge is told')
    .action(({ message, ...options }: Common & { message?: string }) =>
      show(options, schemas.issuance, (client) => client.post('/pause', { message }), printIssuance),
    )

  verb('resume', 'issue challenges again').action((options: Common) =>
    show(options, schemas.issuance, (client) => client.post('/resume'), printIssuance),
  )
}

const retryWords = {
  due: 'the mint is tried in the next round',
  finalized: 'already finalized',
  not_burned: 'nothing was burned for it',
  off: 'this daemon mints nothing: its profile freezes finalization, or it has no proving keys (zerc20.artifacts)',
} as const
