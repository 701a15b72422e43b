/** `svc-facilitator history verify`: reads the file of a payment history, or a copy of it. */
import { exitCodes } from '@svc-zerc20/daemon'
import { SvcError } from '@svc-zerc20/protocol'
import type { Command } from 'commander'
import { readConfigFile } from '../../config/config.js'
import { describe, type Finding, format, isFailure } from '../../config/finding.js'
import type { Environment } from '../../config/secrets/environment.js'
import { type VerifiedHistory, verifyHistoryFile } from '../../history/verify-file.js'

const help = `
Reads every line: its checksum and its number. The file is only read, so it may run beside the daemon, and anywhere on a
copy. A damaged file can be removed while the daemon is stopped: the next start writes the whole history again from its
database.

Examples:
  svc-facilitator history verify
  svc-facilitator history verify /backup/history.jsonl --config facilitator.toml

Exit codes:
  ${exitCodes.ok}   everything is whole
  ${exitCodes.mistake}   the file is damaged or missing, or a mistake on the command line; what was found says which line`

type VerifyCommand = { readonly config?: string; readonly json: boolean }

const key = 'PAYMENT_HISTORY_PATH'

/** Adds `verify` to the commands about the history. */
export function registerVerifyCommand(history: Command, env: Environment): void {
  history
    .command('verify')
    .description('read the file of the payment history, and say whether it is whole')
    .argument('[path]', `the file of the history; default: ${key}`)
    .option('--config <file>', 'configuration file (TOML): the history must be of its chain and token')
    .option('--json', 'print one JSON object', false)
    .addHelpText('after', help)
    .action((path: string | undefined, options: VerifyCommand) => {
      try {
        verify(path ?? env[key], options)
      } catch (error) {
        if (!(error instanceof SvcError)) throw error
        process.stderr.write(`fail ${error.message.replaceAll('\n', '\nfail ')}\n`)
        process.exitCode = exitCodes.mistake
      }
    })
}

function verify(path: string | undefined, options: VerifyCommand): void {
  if (!path) throw mistake(`${key}: not set; set it, or name the file of the history`)
  const binding = options.config === undefined ? undefined : bindingOf(options.config)
  print(path, verifyHistoryFile(path, binding), options.json)
}

function bindingOf(file: string) {
  const { config, findings } = readConfigFile(file)
  if (!config) throw mistake(findings.filter(isFailure).map(describe).join('\n'))
  return { chainId: config.network.chain_id, token: config.network.token }
}

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
  const { records, payments, tornBytes, binding, problems } = report
  const of = binding ? ` of token ${binding.token} on chain ${binding.chainId}` : ''
  const counts = `${path}: ${records} records of ${payments} payments${of}`
  const torn = `${path}: ${tornBytes} bytes at its end are no whole line: the daemon is writing it, or a crash tore it and the next start drops it`
  return [
    ...problems.map((problem) => ({ level: 'fail' as const, key, message: problem.replace(`${key}: `, '') })),
    ...(tornBytes > 0 ? [{ level: 'warn' as const, key, message: torn }] : []),
    { level: problems.length === 0 ? 'ok' : 'warn', key, message: counts },
  ]
}

const mistake = (message: string) => new SvcError('config_invalid', message)
