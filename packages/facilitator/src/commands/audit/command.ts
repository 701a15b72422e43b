/** `audit` on the command line. */
import { exitCodes } from '@svc-zerc20/daemon'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { loadConfig } from '../../config/config.js'
import { addConfigured, examples, type Shell } from '../shell.js'

const auditHelp = `
Reads only. Asks the daemon for its books, with SVC_ADMIN_TOKEN, and the chain; it needs no key. Compares what the books say
was burned, minted and swept with the chain, payment by payment and mint by mint, and prints a line for each difference. A
payment belongs to a period by the time of its challenge. Sweeps are compared since the first payment.

Exit codes:
  ${exitCodes.ok}   chain and books agree
  ${exitCodes.mistake}   they differ, or a mistake in configuration, environment or command line
  ${exitCodes.tryAgain}  the daemon or the RPC does not answer`

type AuditCommand = {
  readonly config: string
  readonly since: number
  readonly until: number
  readonly url?: string
  readonly json: boolean
}

export function addAudit(program: Command, { env, output }: Shell): void {
  addConfigured(
    program,
    'audit',
    'compare the books with the chain: burned, minted, swept, due and stuck',
    examples(
      'svc-facilitator audit --config facilitator.toml',
      'svc-facilitator audit --config facilitator.toml --since 2026-11-01 --until 2026-12-01 --json',
    ),
    auditHelp,
  )
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
    .action(async ({ config: file, json, url, ...period }: AuditCommand) => {
      const config = loadConfig(file)
      const [{ audit }, { printAudit }] = await Promise.all([import('./audit.js'), import('./compare.js')])
      const report = await audit({ config, token: env.SVC_ADMIN_TOKEN, period, url })
      process.stdout.write(json ? `${JSON.stringify(report, undefined, 2)}\n` : printAudit(report))
      await output.exit(report.differences.length === 0 ? exitCodes.ok : exitCodes.mistake)
    })
}

function timeOf(text: string): number {
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : Date.parse(text) / 1000
  if (!Number.isFinite(seconds)) throw new InvalidArgumentError('unix seconds, or a date such as 2026-11-01.')
  return Math.floor(seconds)
}
