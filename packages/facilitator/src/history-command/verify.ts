/** `svc-facilitator history verify`: reads all files of a payment history, or of a copy of one. */
import { exitCodes } from '@svc-zerc20/daemon'
import { SvcError } from '@svc-zerc20/protocol'
import type { Command } from 'commander'
import { readConfigFile } from '../config/config.js'
import type { Environment } from '../config/environment.js'
import { describe, type Finding, format, isFailure } from '../finding.js'
import type { VerifiedHistory } from '../history/verify.js'

const help = `
Reads every line: its checksum, its number, its fields, and that no file is missing between the first and the newest. The
files are only read, so it may run beside the daemon, and anywhere on a copy of them. With --index the daemon must be stopped,
and an index that is damaged is emptied: the next start makes it anew. Progress goes to standard error, what was found to
standard output.

Examples:
  svc-facilitator history verify
  svc-facilitator history verify /backup/history.jsonl --config facilitator.toml
  svc-facilitator history verify --index

Exit codes:
  ${exitCodes.ok}   everything is whole
  ${exitCodes.mistake}   a file is damaged or missing, or a mistake on the command line; what was found says which line
  ${exitCodes.tryAgain}  with --index: a daemon uses the index; stop it first`

type VerifyCommand = { readonly config?: string; readonly index: boolean; readonly json: boolean }

const key = 'PAYMENT_HISTORY_PATH'

/** Adds `verify` to the commands about the history. */
export function registerVerifyCommand(history: Command, env: Environment): void {
  history
    .command('verify')
    .description('read all files of the payment history, and say what is damaged or missing')
    .argument('[path]', `the newest file of the history; default: ${key}`)
    .option('--config <file>', 'configuration file (TOML): the history must be of its chain and token')
    .option('--index', 'look for every record in the index, too; the daemon must be stopped', false)
    .option('--json', 'print one JSON object', false)
    .addHelpText('after', help)
    .action(async (path: string | undefined, options: VerifyCommand) => {
      try {
        await verify(path ?? env[key], options)
      } catch (error) {
        if (!(error instanceof SvcError)) throw error
        process.stderr.write(`fail ${error.message.replaceAll('\n', '\nfail ')}\n`)
        process.exitCode = error.code === 'journal_locked' ? exitCodes.tryAgain : exitCodes.mistake
      }
    })
}

async function verify(path: string | undefined, options: VerifyCommand): Promise<void> {
  if (!path) throw mistake(`${key}: not set; set it, or name the newest file of the history`)
  const binding = options.config === undefined ? undefined : bindingOf(options.config)
  const [{ verifyHistory }, { openComparedIndex }] = await Promise.all([
    import('../history/verify.js'),
    import('../history/compare-index.js'),
  ])
  const index = options.index ? await openComparedIndex(path) : undefined
  try {
    const report = await verifyHistory({
      ...{ path, binding, onProgress: tellProgress },
      ...(index && { inspect: index.problemsOf }),
    })
    print(path, report, options.json)
  } finally {
    await index?.close()
  }
}

function bindingOf(file: string) {
  const { config, findings } = readConfigFile(file)
  if (!config) throw mistake(findings.filter(isFailure).map(describe).join('\n'))
  return { chainId: config.network.chain_id, token: config.network.token }
}

/** A line for every file: one has many thousands of records. */
const tellProgress = (files: number, records: number) =>
  process.stderr.write(`${files} ${files === 1 ? 'file' : 'files'} read, ${records} records\n`)

function print(path: string, report: VerifiedHistory, json: boolean): void {
  const ok = report.problems.length === 0
  process.exitCode = ok ? exitCodes.ok : exitCodes.mistake
  process.stdout.write(
    json
      ? `${JSON.stringify({ ok, path, ...report }, undefined, 2)}\n`
      : findingsOf(path, report)
          .map((finding) => `${format(finding)}\n`)
          .join(''),
  )
}

function findingsOf(path: string, report: VerifiedHistory): readonly Finding[] {
  const { files, records, payments, tornBytes, binding, problems } = report
  const of = binding ? ` of token ${binding.token} on chain ${binding.chainId}` : ''
  const counts = `${path}: ${files} ${files === 1 ? 'file' : 'files'} with ${records} records of ${payments} payments${of}`
  const torn = `${path}: ${tornBytes} bytes at its end are no whole line: the daemon is writing it, or a crash tore it and the next start drops it`
  return [
    ...problems.map((problem) => ({ level: 'fail' as const, key, message: problem.replace(`${key}: `, '') })),
    ...(tornBytes > 0 ? [{ level: 'warn' as const, key, message: torn }] : []),
    { level: problems.length === 0 ? 'ok' : 'warn', key, message: counts },
  ]
}

const mistake = (message: string) => new SvcError('config_invalid', message)
