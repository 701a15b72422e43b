/** Reads the TOML file into a resolved Config. Collects every problem and guesses nothing. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { parse as parseToml, TomlError } from 'smol-toml'
import { showValue } from './credentials.js'
import { describe, type Finding, isFailure } from './finding.js'
import { type Config, configTables, type KeyEntry, type PartialConfig, type TableEntry } from './keys.js'
import { createLineFinder, type LineOf } from './lines.js'
import { judgeRules } from './rules.js'
import { judgeUnknownKeys } from './unknown.js'

export type { Config, PartialConfig } from './keys.js'

type Fail = (key: string, message: string) => void
type RawTable = Readonly<Record<string, unknown>>

/** `config` is present when nothing failed. `values` holds the valid values in any case. */
export type ConfigReading = {
  /** False when there is no file, or no TOML in it: nothing else can be said about it then. */
  readonly isRead: boolean
  readonly config: Config | undefined
  readonly values: PartialConfig
  readonly findings: readonly Finding[]
  readonly lineOf: LineOf
}

/** Relative paths in the text start at `directory`. Default: the working directory. `file` is named where all of it is wrong. */
export type ConfigPlace = { readonly directory?: string; readonly file?: string }

/** Reads a configuration text and reports everything that is wrong or suspicious. */
export function readConfig(text: string, { directory = '.', file }: ConfigPlace = {}): ConfigReading {
  let raw: RawTable
  try {
    raw = parseToml(text, { integersAsBigInt: true })
  } catch (error) {
    return nothingRead(notToml(error, file))
  }
  const lineOf = createLineFinder(text)
  const findings: Finding[] = []
  const fail = (key: string, message: string) => {
    // A missing key is reported at the line of its table.
    const line = lineOf(key) ?? lineOf(key.split('.')[0] ?? '') ?? lineOf(key.split(/[[.]/)[0] ?? '')
    findings.push({ level: 'fail', key, message, ...(line !== undefined && { line }) })
  }
  const read: Record<string, unknown> = {}
  for (const table of configTables) {
    if (table.name === '') Object.assign(read, readTable(table, raw, fail))
    else if (table.repeated) read[table.name] = readTables(table, raw[table.name], fail)
    else read[table.name] = readTable(table, raw, fail)
  }
  const values = withPathsFrom(resolve(directory), read as PartialConfig)
  const tried = (path: string) => lookUp(raw, path) !== undefined
  for (const { key, message } of judgeRules(values, tried)) fail(key, message)
  findings.push(...judgeUnknownKeys(raw, lineOf))
  const config = findings.some(isFailure) ? undefined : (values as Config)
  return { isRead: true, config, values, findings, lineOf }
}

/** Reads a configuration file. An unreadable file is a finding too. */
export function readConfigFile(file: string): ConfigReading {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    return nothingRead({ level: 'fail', key: file, message: `cannot be read (${code})` })
  }
  return readConfig(text, { directory: dirname(file), file })
}

/** Reads a configuration text. Throws `SvcError('config_invalid')` with one line for every problem. */
export function parseConfig(text: string, place: ConfigPlace = {}): Config {
  const { config, findings } = readConfig(text, place)
  if (config !== undefined) return config
  throw new SvcError('config_invalid', findings.filter(isFailure).map(describe).join('\n'))
}

function readTable(
  { name: table, optional, keys }: TableEntry,
  raw: RawTable,
  fail: Fail,
): Record<string, unknown> | undefined {
  const given = table === '' ? raw : raw[table]
  if (given === undefined && optional) return undefined
  if (given !== undefined && !isTable(given)) {
    fail(table, `must be a table, is ${showValue(given)}`)
    return {}
  }
  const values: Record<string, unknown> = {}
  for (const entry of keys) readKey(entry, given?.[entry.name], values, fail)
  return values
}

/** Reads repeated tables. Findings name them by index: `sellers[0].name`. */
function readTables(table: TableEntry, given: unknown, fail: Fail): Record<string, unknown>[] {
  if (given === undefined) return []
  if (!Array.isArray(given)) {
    fail(table.name, `must be written as [[${table.name}]], once for each`)
    return []
  }
  return given.map((one: unknown, place) => {
    const name = `${table.name}[${place}]`
    const keys = table.keys.map((entry) => ({ ...entry, path: `${name}.${entry.name}` }))
    return readTable({ ...table, name, keys, optional: false }, { [name]: one }, fail) ?? {}
  })
}

function readKey(
  { path, name, key }: KeyEntry,
  given: unknown,
  values: Record<string, unknown>,
  fail: Fail,
): void {
  if (given === undefined) {
    if (key.presence === 'required') fail(path, `required, but missing; must be ${key.type.allowed}`)
    else values[name] = key.default
    return
  }
  const value = key.type.parse(given)
  if (value !== undefined) values[name] = value
  else fail(path, key.type.explain?.(given) ?? `must be ${key.type.allowed}, is ${showValue(given)}`)
}

function withPathsFrom(directory: string, values: PartialConfig): PartialConfig {
  const { journal } = values.settlement
  const { artifacts } = values.zerc20
  return {
    ...values,
    settlement: {
      ...values.settlement,
      ...(journal !== undefined && journal !== 'none' && { journal: resolve(directory, journal) }),
    },
    zerc20: {
      ...values.zerc20,
      ...(artifacts !== undefined && { artifacts: resolve(directory, artifacts) }),
    },
  }
}

/** Replaces the parser's message, which quotes the line, because that line may hold a secret. */
function notToml(error: unknown, file?: string): Finding {
  if (!(error instanceof TomlError)) throw error
  const [what = ''] = error.message.split('\n')
  const message = `${what.replace('Invalid TOML document: ', '')} at column ${error.column}`
  const { line } = error
  if (file === undefined) return { level: 'fail', key: 'not TOML', message, line }
  return { level: 'fail', key: file, message: `is not TOML: ${message}`, line }
}

function nothingRead(finding: Finding): ConfigReading {
  const values = {
    network: {},
    listen: {},
    settlement: {},
    fee: undefined,
    daemon: {},
    finalize: {},
    log: {},
    history: {},
    zerc20: {},
    sellers: [],
  }
  return { isRead: false, config: undefined, values, findings: [finding], lineOf: () => undefined }
}

const isTable = (value: unknown): value is RawTable =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

function lookUp(raw: RawTable, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => (isTable(at) ? at[name] : undefined), raw)
}
