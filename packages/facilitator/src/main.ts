#!/usr/bin/env node
/** `svc-facilitator`: arguments → start, and the exit code. */
import { readFileSync } from 'node:fs'
import { SvcError } from '@svc-zerc20/protocol'
import { Command } from 'commander'
import { parseConfig } from './config.js'
import { readSecrets } from './secrets.js'
import { type Facilitator, startFacilitator } from './start.js'
import { createLog } from './telemetry/log.js'

/** 0 stopped, 1 a mistake in the configuration, 75 (EX_TEMPFAIL) worth trying again later. */
const exitCodes = { stopped: 0, configuration: 1, tryAgain: 75 } as const
const configurationErrors = new Set(['config_invalid', 'secrets_invalid', 'config_unreadable'])

const program = new Command('svc-facilitator')
  .description('Issues one-time burn addresses, verifies and settles svc-zerc20 payments over x402 v2.')
  .version('0.1.0')

program
  .command('start')
  .description('run the daemon')
  .requiredOption('--config <file>', 'configuration file (TOML)')
  .action(async ({ config }: { config: string }) => {
    try {
      await start(config)
    } catch (error) {
      fail(error)
    }
  })

await program.parseAsync()

async function start(file: string): Promise<void> {
  const log = createLog()
  const config = parseConfig(readConfigFile(file))
  const { secrets, warnings } = readSecrets(config)
  if (config.settlement.journal === 'none') {
    warnings.push('settlement.journal is "none": pending work is lost on restart')
  }
  for (const message of warnings) log({ event: 'facilitator.warning', message })
  const facilitator = await startFacilitator({ config, secrets, log })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log({ event: 'facilitator.stopping', signal })
      void stop(facilitator, log)
    })
  }
}

async function stop(facilitator: Facilitator, log: ReturnType<typeof createLog>): Promise<void> {
  // A second signal means: now.
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => process.exit(exitCodes.stopped))
  await facilitator.close()
  log({ event: 'facilitator.stopped' })
  process.exit(exitCodes.stopped)
}

function readConfigFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new SvcError('config_unreadable', `cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
}

function fail(error: unknown): never {
  const code = error instanceof SvcError ? error.code : 'unknown'
  const message = error instanceof Error ? error.message : String(error)
  for (const line of message.split('\n')) process.stderr.write(`fail ${line}\n`)
  process.exit(configurationErrors.has(code) ? exitCodes.configuration : exitCodes.tryAgain)
}
