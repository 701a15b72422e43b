#!/usr/bin/env node
import { runProgram } from './command/program.js'
import { takeEnvironment } from './environment/env.js'
import { exitCodes } from './payer-error.js'
import { version } from './version.js'

/** `svc-pay`: arguments and environment → a command and its exit code. */

const environment = takeEnvironment()
const { stdin, stdout, stderr } = process
// A reader that has left, such as `head`, wants no more. Any other failure to write loses what was bought.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return
  stderr.write(`error: standard output cannot be written: ${error.message}\n`)
  process.exitCode = exitCodes.failed
})
stderr.on('error', () => undefined)

const args = process.argv.slice(2)
const isTerminal = stdin.isTTY === true && stderr.isTTY === true

await runProgram(
  {
    version,
    environment,
    io: {
      stdout,
      stderr,
      terminal: isTerminal ? stdin : undefined,
      isColoured: stdout.isTTY === true && environment.NO_COLOR === undefined,
    },
    stdin,
    end: (code) => {
      process.exitCode = code
    },
  },
  args,
)
// Everything printed reaches a pipe before the process ends. Connections that a seller keeps busy do not hold it; only the
// tools leave payments under way behind, and end after them.
if (args[0] !== 'mcp') stdout.write('', () => stderr.write('', () => process.exit()))
