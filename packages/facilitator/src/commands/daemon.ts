/** `check`, `start` and `config`: the daemon, and what would keep it from starting. */
import { exitCodes, onStopSignal } from '@svc-zerc20/daemon'
import { inTime, SvcError } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import type { Command } from 'commander'
import { readConfigFile } from '../config/config.js'
import { describe, exitCodeOf, type Finding, findingOf, format, isFailure } from '../config/finding.js'
import { limits } from '../config/limits.js'
import { printConfig } from '../config/print.js'
import type { Facilitator } from '../start/start.js'
import type { Log, LogEvent } from '../telemetry/events.js'
import { createSummedLog, type SummedLog } from '../telemetry/summed.js'
import { type CheckReport, check } from './check/check.js'
import {
  acceptCopyOption,
  addConfigured,
  environmentHelp,
  examples,
  exitCodesHelp,
  failWith,
  type Shell,
} from './shell.js'

const checkHelp =
  '\nPrints one line per finding, "ok", "warn" or "fail", then the key and what was found.\nOnly reads: it writes no file and sends no transaction.'

export function addCheck(program: Command, { env }: Shell): void {
  addConfigured(
    program,
    'check',
    'find every problem of configuration, keys, chain, contracts and ledger; starts nothing',
    checkHelp,
    examples(
      'svc-facilitator check --config facilitator.toml',
      'svc-facilitator check --config facilitator.toml --json | jq .findings',
    ),
    environmentHelp,
    exitCodesHelp,
  )
    .option('--json', 'print the findings as one JSON object', false)
    .action(async ({ config: file, json }: { config: string; json: boolean }) => {
      const report = await check({ file, env, clock: systemClock, command: 'check' })
      const lines = report.findings.map((finding) => `${format(finding)}\n`)
      process.stdout.write(json ? toJson(report) : lines.join(''))
      process.exitCode = exitCodeOf(report.findings.filter(isFailure))
    })
}

function toJson({ findings }: CheckReport): string {
  const failures = findings.filter(isFailure)
  const report = { ok: failures.length === 0, exitCode: exitCodeOf(failures), findings }
  return `${JSON.stringify(report, undefined, 2)}\n`
}

export function addConfig(program: Command, { env }: Shell): void {
  const description = 'print the configuration with every default, without secrets'
  addConfigured(
    program,
    'config',
    description,
    examples('svc-facilitator config --config facilitator.toml'),
  ).action(({ config: file }: { config: string }) => {
    const { config, findings } = readConfigFile(file)
    complain(findings.filter(({ level }) => level !== 'ok'))
    if (config) process.stdout.write(printConfig(config, env))
    else process.exitCode = exitCodes.mistake
  })
}

const startHelp =
  '\nLogs JSON lines to standard output; "facilitator.listening" tells the URL, and "facilitator.ready" that\npayments can be taken. SIGTERM or SIGINT ends it after the\nwork under way, a second one at once.'

type StartOptions = { readonly config: string; readonly acceptCopy: boolean }

export function addStart(program: Command, shell: Shell): void {
  addConfigured(
    program,
    'start',
    'run the daemon, after the same checks',
    startHelp,
    examples('svc-facilitator start --config facilitator.toml'),
    environmentHelp,
    exitCodesHelp,
  )
    .option(...acceptCopyOption)
    .action(async (options: StartOptions) => {
      const { log } = shell.output
      const summed = createSummedLog({ log, clock: systemClock, windowMs: limits.logWindowMs })
      try {
        await start(options, summed, shell)
      } catch (error) {
        summed.log(failureOf(error))
        throw error
      }
    })
}

async function start(
  { config: file, acceptCopy }: StartOptions,
  summed: SummedLog,
  shell: Shell,
): Promise<void> {
  const { log } = summed
  const { findings, ready } = await checked(file, 'start', shell, log)
  for (const finding of findings.filter(({ level }) => level !== 'ok')) {
    log({ event: 'facilitator.warning', message: describe(finding) })
  }
  const { startFacilitator } = await import('../start/start.js')
  const facilitator = await startFacilitator({ ...ready, isCopyAccepted: acceptCopy, log })
  onStopSignal(
    (signal) => {
      log({ event: 'facilitator.stopping', signal })
      // Open counts are written now, and later events one by one.
      summed.close()
      void stop(facilitator, ready.config.daemon.shutdown_grace_ms, log, shell.output)
    },
    // A second signal ends the process at once.
    () => void shell.output.exit(exitCodes.ok),
  )
}

/** Ends the process when the check finds a failure. */
export async function checked(file: string, command: 'start' | 'recover', { env, output }: Shell, log?: Log) {
  const { findings, ready } = await check({ file, env, clock: systemClock, command })
  const failures = findings.filter(isFailure)
  const fatal = failures.filter(({ start: verdict }) => verdict !== 'anyway')
  if (fatal.length === 0 && ready) return { findings, ready }
  complain(failures)
  for (const finding of fatal) log?.(failureOfFinding(finding))
  return output.exit(exitCodeOf(fatal))
}

/** Why the daemon does not start, as the last line of its log: a supervisor that collects logs sees no standard error. */
type StartFailure = Extract<LogEvent, { event: 'facilitator.failed' }>

/** Codes of the system for an address that the daemon cannot listen on. */
const listenCodes = new Set(['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND'])

function failureOf(error: unknown): StartFailure {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  const key = error instanceof SvcError ? findingOf(error, '').key : listenCodes.has(code) && 'listen.port'
  return { event: 'facilitator.failed', ...(key && { key }), code, message }
}

const failureOfFinding = (finding: Finding): StartFailure => ({
  event: 'facilitator.failed',
  key: finding.key,
  code: finding.start === 'later' ? 'try_again' : 'mistake',
  message: describe(finding),
})

function complain(findings: readonly Finding[]): void {
  for (const finding of findings) process.stderr.write(`${format(finding)}\n`)
}

/** A part that does not close, as a ledger whose disk hangs, ends with the process. The ledger survives any kill. */
async function stop(
  facilitator: Facilitator,
  graceMs: number,
  log: Log,
  output: Shell['output'],
): Promise<void> {
  const patienceMs = graceMs + limits.closeWaitMs
  try {
    if ((await inTime(facilitator.close(), patienceMs, systemClock)) === 'late') {
      log({ event: 'facilitator.forced', seconds: patienceMs / 1000 })
      return await output.exit(exitCodes.tryAgain, { hangs: true })
    }
  } catch (error) {
    await failWith(error, { output })
  }
  log({ event: 'facilitator.stopped' })
  await output.exit(exitCodes.ok)
}
