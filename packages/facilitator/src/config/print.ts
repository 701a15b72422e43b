/** Prints the resolved configuration without secrets. */
import type { Config } from './config.js'
import { maskUrl } from './credentials.js'
import { configTables, type KeyEntry } from './schema.js'
import { type Environment, environmentVariables, historyVariables } from './secrets/environment.js'

const variables = [...environmentVariables, ...historyVariables]

/** As TOML that is a valid configuration file. Defaults that the file left out are marked. */
export function printConfig(config: Config, env: Environment): string {
  const named = variables.map(({ name }) => `# ${name}: ${env[name] ? 'set' : 'not set'}`)
  const parts = configTables.map(({ name: table, repeated, keys }) => {
    if (repeated) return printTables(table, keys, valueAt(config, table))
    const lines = keys.flatMap((entry) => printKey(entry, valueAt(config, entry.path)))
    return lines.length === 0 ? '' : [...(table === '' ? [] : [`[${table}]`]), ...lines].join('\n')
  })
  return `${[named.join('\n'), ...parts].filter((part) => part !== '').join('\n\n')}\n`
}

function printTables(table: string, keys: readonly KeyEntry[], given: unknown): string {
  const list = given as readonly Record<string, unknown>[]
  const printed = list.map((one) =>
    [`[[${table}]]`, ...keys.flatMap((entry) => printKey(entry, one[entry.name]))].join('\n'),
  )
  return printed.join('\n\n')
}

function printKey({ name, default: usual }: KeyEntry, value: unknown): string[] {
  if (value === undefined) return []
  // JSON writes texts, numbers, flags and lists as TOML does.
  return [`${name} = ${JSON.stringify(shown(value))}${value === usual ? ' # default' : ''}`]
}

/** Masks credentials in URLs. Amounts become strings, because they may not fit a TOML integer. */
function shown(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`
  return typeof value === 'string' && /^https?:\/\//i.test(value) ? maskUrl(value) : value
}

function valueAt(config: Config, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], config)
}
