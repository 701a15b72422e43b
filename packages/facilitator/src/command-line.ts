/** The command line of `svc-facilitator`: its commands, in the order of its help. Each stands in `commands/`. */
import { Command } from 'commander'
import { registerAdminCommands, registerSweepCommand } from './commands/admin/commands.js'
import { addAudit } from './commands/audit/command.js'
import { addCheck, addConfig, addStart } from './commands/daemon.js'
import { addDecide } from './commands/decide.js'
import { registerHistoryCommands } from './commands/history/commands.js'
import { addRecover } from './commands/recover/command.js'
import { environmentHelp, examples, exitCodesHelp, type Shell } from './commands/shell.js'
import { addBackup, addMigrate, addMove } from './commands/storage/commands.js'

// A command imports its parts when it runs: server, ledger and prover are most of the time of a start.

/** Builds the program; `parseAsync` runs it. */
export function createProgram(version: string, shell: Shell): Command {
  const program = new Command('svc-facilitator')
    .description('Issues one-time burn addresses, verifies and settles svc-zerc20 payments over x402 v2.')
    .version(version)
    .showHelpAfterError('(add --help for usage)')
    .addHelpText(
      'after',
      [
        examples(
          'svc-facilitator check --config facilitator.toml',
          'svc-facilitator start --config facilitator.toml',
        ),
        environmentHelp,
        exitCodesHelp,
      ].join('\n'),
    )
  addCheck(program, shell)
  addStart(program, shell)
  addRecover(program, shell)
  addConfig(program, shell)
  addAudit(program, shell)
  addBackup(program)
  addMigrate(program, shell)
  addMove(program, shell)
  registerSweepCommand(program, shell.env)
  addDecide(program, shell)
  registerAdminCommands(program, shell.env)
  registerHistoryCommands(program, shell.env)
  return program
}
