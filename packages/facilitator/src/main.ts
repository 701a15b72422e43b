#!/usr/bin/env node
/** `svc-facilitator`: runs the command check, start, recover, audit, backup, migrate, move, puzzles, mine, config, decide, admin or history, and sets the exit code. */
import { createProcessLog, exitCodeFor, exitCodes, onStopSignal } from '@svc-zerc20/daemon'
import { CodedError, inTime, SvcError } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import {
  type Actions,
  type AuditCommand,
  createProgram,
  type DecideCommand,
  type MineCommand,
  type RecoverCommand,
} from './command-line.js'
import { printAudit } from './commands/audit/reckon.js'
import { type CheckReport, check } from './commands/check/check.js'
import { type Config, loadConfig, readConfigFile } from './config/config.js'
import { describe, exitCodeOf, type Finding, format, isFailure } from './config/finding.js'
import { limits } from './config/limits.js'
import { printConfig } from './config/print.js'
import { takeEnvironment } from './config/secrets/environment.js'
import { readDeciderToken, readStoragePassword, readTreasuryKey } from './config/secrets/secrets.js'
import { version } from './package.js'
import type { Facilitator } from './start/start.js'
import * as StartFailure from './start/start-failure.js'
import { type LogWriter, levelOf } from './telemetry/events.js'
import { createSummedLog, type SummedLog } from './telemetry/summed.js'

// Server, ledger and prover are imported only by the commands that need them. The others then start a third faster.

const env = takeEnvironment()
const output = createProcessLog(levelOf)

const actions: Actions = {
  async check(file, { json }) {
    const report = await check({ file, env, clock: systemClock, command: 'check' })
    const failures = report.findings.filter(isFailure)
    process.stdout.write(
      json ? toJson(report) : report.findings.map((finding) => `${format(finding)}\n`).join(''),
    )
    process.exitCode = exitCodeOf(failures)
  },

  async config(file) {
    const { config, findings } = readConfigFile(file)
    complain(findings.filter(({ level }) => level !== 'ok'))
    if (config) process.stdout.write(printConfig(config, env))
    else process.exitCode = exitCodes.mistake
  },

  async start(file, options) {
    const summed = createSummedLog({ log: output.log, clock: systemClock, windowMs: limits.logWindowMs })
    try {
      await start(file, options, summed)
    } catch (error) {
      summed.log(StartFailure.of(error))
      throw error
    }
  },

  decide,
  audit,
  backup,
  migrate,
  move,
  puzzles,
  mine,
  recover,
}

await createProgram(version, actions, env).parseAsync().catch(failWith)

/** Ends the process when the check finds a failure. */
async function checked(file: string, command: 'start' | 'recover', log?: LogWriter) {
  const { findings, ready } = await check({ file, env, clock: systemClock, command })
  const failures = findings.filter(isFailure)
  const fatal = failures.filter(({ start: verdict }) => verdict !== 'anyway')
  if (fatal.length === 0 && ready) return { findings, ready }
  complain(failures)
  for (const finding of fatal) log?.(StartFailure.ofFinding(finding))
  return output.exit(exitCodeOf(fatal))
}

async function failWith(error: unknown): Promise<never> {
  const { message } = error instanceof CodedError ? error : { message: String(error) }
  process.stderr.write(`fail ${message.replaceAll('\n', '\nfail ')}\n`)
  return output.exit(exitCodeFor(error))
}

async function decide(options: DecideCommand): Promise<void> {
  const token = readDeciderToken(env)
  const { startDecider } = await import('@svc-zerc20/prover/decider')
  const onError = (route: string, err: unknown) => output.log({ event: 'request.failed', route, err })
  const decider = await startDecider({ ...options, token, clock: systemClock, onError })
  output.log({ event: 'decider.ready', url: decider.url })
  onStopSignal(
    () => void decider.close().then(() => output.exit(exitCodes.ok), failWith),
    // A second signal ends the process at once.
    () => void output.exit(exitCodes.ok),
  )
}

async function backup(file: string, to: string): Promise<void> {
  const config = loadConfig(file)
  if (config.storage.url !== undefined) {
    throw new SvcError(
      'config_invalid',
      'storage.url: a database is backed up by its own tools, pg_dump for example',
    )
  }
  const { backUp } = await import('./store/backup.js')
  const { events } = backUp(config.settlement.journal, to)
  process.stdout.write(`${to}: ${events} events\n`)
}

async function migrate(file: string, { dryRun: isDryRun }: { readonly dryRun: boolean }): Promise<void> {
  const config = loadConfig(file)
  const database = databaseOf(config)
  const { migrateLedger } = await import('./commands/storage/migrate.js')
  process.stdout.write(await migrateLedger({ config, database, isDryRun }))
}

/** The database of the ledger, for commands that need no key. */
function databaseOf({ storage: { url } }: Config) {
  return url === undefined ? undefined : { url, password: readStoragePassword(env) }
}

async function puzzles(file: string, { count }: { readonly count: number }): Promise<void> {
  const config = loadConfig(file)
  const { printPuzzles } = await import('./commands/mine/puzzles.js')
  await printPuzzles({
    config,
    treasuryKey: readTreasuryKey(env),
    database: databaseOf(config),
    count,
    clock: systemClock,
    output: process.stdout,
  })
}

async function mine({ to, ...options }: MineCommand): Promise<void> {
  const [{ mineAddresses }, { openReadyTable }] = await Promise.all([
    import('./commands/mine/mine.js'),
    import('./store/postgres/ready-table.js'),
  ])
  const table = openReadyTable({ url: to, password: readStoragePassword(env) })
  const stopping = new AbortController()
  onStopSignal(
    () => stopping.abort(),
    () => void output.exit(exitCodes.ok),
  )
  const say = (line: string) => process.stderr.write(`${line}\n`)
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

async function move(file: string, to: string): Promise<void> {
  const config = loadConfig(file)
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const { moveLedger } = await import('./commands/storage/move.js')
  process.stdout.write(await moveLedger({ config, to, password: readStoragePassword(env), say }))
}

async function audit(file: string, { json, url, ...period }: AuditCommand): Promise<void> {
  const config = loadConfig(file)
  const { audit: compare } = await import('./commands/audit/audit.js')
  const report = await compare({ config, token: env.SVC_ADMIN_TOKEN, period, url })
  process.stdout.write(json ? `${JSON.stringify(report, undefined, 2)}\n` : printAudit(report))
  await output.exit(report.differences.length === 0 ? exitCodes.ok : exitCodes.mistake)
}

async function recover(file: string, { json, ...options }: RecoverCommand): Promise<void> {
  const { ready } = await checked(file, 'recover')
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const log: LogWriter = (event) => {
    if (levelOf(event) !== 'info') say(Object.values(event).join(' '))
  }
  const { exitCodeOf: codeOf, printRecovery, recoverBurns } = await import('./commands/recover/recover.js')
  const found = await recoverBurns({ ...ready, ...options, log, say }).catch((error: unknown) => {
    const isLocked = error instanceof SvcError && error.code === 'journal_locked'
    throw isLocked ? new SvcError(error.code, `${error.message}: stop it first`, { cause: error }) : error
  })
  process.stdout.write(printRecovery(found, { json }))
  process.exitCode = codeOf(found)
}

async function start(file: string, options: { acceptJournal: boolean }, summed: SummedLog): Promise<void> {
  const { log } = summed
  const { findings, ready } = await checked(file, 'start', log)
  for (const finding of findings.filter(({ level }) => level !== 'ok')) {
    log({ event: 'facilitator.warning', message: describe(finding) })
  }
  const { startFacilitator } = await import('./start/start.js')
  const facilitator = await startFacilitator({ ...ready, ...options, log })
  onStopSignal(
    (signal) => {
      log({ event: 'facilitator.stopping', signal })
      // Open counts are written now, and later events one by one.
      summed.close()
      void stop(facilitator, ready.config.daemon.shutdown_grace_ms, log)
    },
    // A second signal ends the process at once.
    () => void output.exit(exitCodes.ok),
  )
}

/** A part that does not close, as a ledger whose disk hangs, ends with the process. The journal survives any kill. */
async function stop(facilitator: Facilitator, graceMs: number, log: LogWriter): Promise<void> {
  const patienceMs = graceMs + limits.closeWaitMs
  try {
    if ((await inTime(facilitator.close(), patienceMs, systemClock)) === 'late') {
      log({ event: 'facilitator.forced', seconds: patienceMs / 1000 })
      return await output.exit(exitCodes.tryAgain, { hangs: true })
    }
  } catch (error) {
    await failWith(error)
  }
  log({ event: 'facilitator.stopped' })
  await output.exit(exitCodes.ok)
}

function complain(findings: readonly Finding[]): void {
  for (const finding of findings) process.stderr.write(`${format(finding)}\n`)
}

function toJson({ findings }: CheckReport): string {
  const failures = findings.filter(isFailure)
  const report = { ok: failures.length === 0, exitCode: exitCodeOf(failures), findings }
  return `${JSON.stringify(report, undefined, 2)}\n`
}
