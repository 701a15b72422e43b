#!/usr/bin/env node
/** `svc-pay`: arguments and environment → a command and its exit code. */
import { runProgram } from './command/program.js'
import { takeEnvironment } from './environment/env.js'
import { version } from './version.js'

const environment = takeEnvironment()
const { stdin, stdout, stderr } = process
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
    // Only the code is set, so that everything printed reaches a pipe before the process ends.
    end: (code) => {
      process.exitCode = code
    },
  },
  process.argv.slice(2),
)
