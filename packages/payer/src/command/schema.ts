/** `schema`: the command line described for programs, from the commands themselves. */
import type { Command } from 'commander'
import { exitCodes, exitCodeWords } from '../payer-error.js'
import type { Report } from './output.js'

export function schema(program: Command): Report {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      description: argument.description,
      isRequired: argument.required,
    })),
    options: command.options.map(({ flags, description, defaultValue }) => ({
      flags,
      description,
      default: defaultValue as unknown,
    })),
  }))
  const output = {
    ok: 'boolean',
    command: 'string',
    exitCode: 'integer',
    result: 'object, where it went well',
    error: 'object with code, message and what to do, where it did not',
    warnings: 'array of strings',
  }
  const result = { program: program.name(), commands, exitCodes: exitCodeWords, jsonOutput: output }
  return { exitCode: exitCodes.ok, result, text: `${JSON.stringify(result, undefined, 2)}\n` }
}
