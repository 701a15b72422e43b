#!/usr/bin/env node
/** `svc-facilitator`: runs one of its commands, and sets the exit code. */
import { createProcessLog } from '@svc-zerc20/daemon'
import { createProgram } from './command-line.js'
import { failWith, type Shell } from './commands/shell.js'
import { takeEnvironment } from './config/secrets/environment.js'
import { version } from './package.js'
import { levelOf } from './telemetry/events.js'

const shell: Shell = { env: takeEnvironment(), output: createProcessLog(levelOf) }

await createProgram(version, shell)
  .parseAsync()
  .catch((error) => failWith(error, shell))
