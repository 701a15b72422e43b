/** The parts that every command of `svc-facilitator` has: where it stands on the command line, its help, and the process around it. */
import { exitCodeFor, exitCodes, type ProcessLog } from '@svc-zerc20/daemon'
import { CodedError } from '@svc-zerc20/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import { type Environment, environmentVariables } from '../config/secrets/environment.js'
import type { LogEvent } from '../telemetry/events.js'

/** The process around a command. */
export type Shell = { readonly env: Environment; readonly output: ProcessLog<LogEvent> }

/** Parts of the help are printed one under the other. */
export const addCommand = (program: Command, name: string, description: string, ...help: string[]): Command =>
  program.command(name).description(description).addHelpText('after', help.join('\n'))

/** A command that works on a configuration file. */
export const addConfigured = (...given: Parameters<typeof addCommand>): Command =>
  addCommand(...given).requiredOption('--config <file>', 'configuration file (TOML)')

export const examples = (...lines: string[]) => `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`

export const exitCodesHelp = `
Exit codes:
  ${exitCodes.ok}   done, stopped, or nothing failed
  ${exitCodes.mistake}   a mistake in configuration, environment or command line; fix it first
  ${exitCodes.tryAgain}  nothing to fix here, for example the RPC is down; try again later`

/** The first sentence of what a variable is for, and when it is required. */
function helpOf({ name, about, required }: (typeof environmentVariables)[number]): string {
  const [first] = about.split(/\.(?:\s|$)/)
  const need = { never: '', always: ', required' }[required] ?? `, required ${required}`
  return `  ${name.padEnd(25)}  ${first}${need}`.replaceAll('`', '')
}

export const environmentHelp = `
Environment (keys are never read from the file; docs/reference/environment.md tells more):
${environmentVariables.map(helpOf).join('\n')}
  PAYMENT_HISTORY_PATH       The payment history, with HISTORY_*, all of its group or none`

export const acceptCopyOption = [
  '--accept-copy',
  'go on with a ledger that is not the newest, or whose relayer key was used elsewhere',
  false,
] as const

export const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const number = Number(text)
    if (Number.isInteger(number) && number >= least && number <= most) return number
    throw new InvalidArgumentError(`a whole number from ${least} to ${most}.`)
  }

/** Progress, which is no result. */
export const say = (line: string) => process.stderr.write(`${line}\n`)

/** Ends the process with the words and the exit code of an error. */
export async function failWith(error: unknown, { output }: Pick<Shell, 'output'>): Promise<never> {
  const { message } = error instanceof CodedError ? error : { message: String(error) }
  process.stderr.write(`fail ${message.replaceAll('\n', '\nfail ')}\n`)
  return output.exit(exitCodeFor(error))
}
