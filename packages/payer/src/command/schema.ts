/** `schema` and `completion`: the command line described for programs and for shells, from the commands themselves. */
import type { Command } from 'commander'
import { tools } from '../mcp/tool-list.js'
import { exitCodes, exitCodeWords } from './exit-codes.js'
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
      ...{ flags, description, default: defaultValue as unknown },
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
  const mcpTools = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  const result = { program: program.name(), commands, exitCodes: exitCodeWords, jsonOutput: output, mcpTools }
  return { exitCode: exitCodes.ok, result, text: `${JSON.stringify(result, undefined, 2)}\n` }
}

const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]
export const isShell = (text: string): text is Shell => shells.some((shell) => shell === text)

export function completion(program: Command, shell: Shell): Report {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    flags: command.options.flatMap(({ long, description }) => (long ? [{ long, description }] : [])),
  }))
  const text = { bash, zsh, fish }[shell](program.name(), commands)
  return { exitCode: exitCodes.ok, result: { shell, script: text }, text }
}

type Described = {
  readonly name: string
  readonly description: string
  readonly flags: readonly { readonly long: string; readonly description: string }[]
}

function bash(program: string, commands: readonly Described[]): string {
  const cases = commands.map(
    ({ name, flags }) => `    ${name}) words="${flags.map(({ long }) => long).join(' ')}" ;;`,
  )
  return `_${identifier(program)}() {
  local words="${commands.map(({ name }) => name).join(' ')}"
  if [ "$COMP_CWORD" -gt 1 ]; then case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="" ;;
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${identifier(program)} ${program}
`
}

const zsh = (program: string, commands: readonly Described[]) =>
  `autoload -U +X bashcompinit && bashcompinit\n${bash(program, commands)}`

function fish(program: string, commands: readonly Described[]): string {
  const lines = commands.flatMap(({ name, description, flags }) => [
    `complete -c ${program} -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
    ...flags.map(
      ({ long, description: about }) =>
        `complete -c ${program} -n '__fish_seen_subcommand_from ${name}' -l ${long.slice(2)} -d ${quoted(about)}`,
    ),
  ])
  return `${lines.join('\n')}\n`
}

const identifier = (text: string) => text.replaceAll('-', '_')
const quoted = (text: string) => `'${text.replaceAll("'", "\\'")}'`
