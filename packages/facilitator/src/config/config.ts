/** Reads the TOML file into a resolved Config. Collects every problem and guesses nothing. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { nearestName, parseAddress, SvcError } from '@svc-zerc20/protocol'
import { parse, TomlError } from 'smol-toml'
import { looksLikeKey, showValue, soundsSecret } from './credentials.js'
import { describe, type Finding, isFailure } from './finding.js'
import { judgeRules } from './rules.js'
import { type Config, configTables, knownPaths, type PartialConfig, type TableEntry } from './schema.js'

export type { Config, PartialConfig } from './schema.js'

/** `config` is present when nothing failed. `values` holds the valid values in any case. */
export type ConfigReading = {
  /** False when there is no file, or no TOML in it: nothing else can be said about it then. */
  readonly isRead: boolean
  readonly config: Config | undefined
  readonly values: PartialConfig
  readonly findings: readonly Finding[]
  /** Whether the text has a key, such as `fee.splitter`, valid or not. */
  readonly isGiven: (path: string) => boolean
}

/** Relative paths in the text start at `directory`. Default: the working directory. `file` is named where all of it is wrong. */
export type ConfigSource = { readonly directory?: string; readonly file?: string }

/** Reads a configuration text and reports everything that is wrong or suspicious. */
export function readConfig(text: string, { directory = '.', file }: ConfigSource = {}): ConfigReading {
  const raw = readToml(text)
  if (typeof raw === 'string') {
    if (file === undefined) return nothingRead({ level: 'fail', key: 'not TOML', message: raw })
    return nothingRead({ level: 'fail', key: file, message: `is not TOML: ${raw}` })
  }
  const findings: Finding[] = []
  const say = (level: Finding['level'], key: string, message: string) =>
    findings.push({ level, key, message })
  const fail: Fail = (key, message) => say('fail', key, message)
  const values = withPathsFrom(resolve(directory), readTables(raw, fail))
  const given = everythingIn(raw, '')
  const isGiven = (path: string) => given.some((one) => one.path === path)
  for (const { key, message } of judgeRules(values, isGiven)) fail(key, message)
  for (const unknown of given.filter(isUnknown)) {
    if (hidesSecret(unknown)) fail(unknown.path, secretMessage(unknown.path))
    else say('warn', unknown.path, `unknown key, ignored${nearest(unknown.path)}`)
  }
  const config = findings.some(isFailure) ? undefined : (values as Config)
  return { isRead: true, config, values, findings, isGiven }
}

type Table = Readonly<Record<string, unknown>>

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

/** Integers are bigint. An error does not quote the text, which may hold a secret. */
function readToml(text: string): Table | string {
  try {
    return parse(text, { integersAsBigInt: true })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [what = ''] = error.message.replace('Invalid TOML document: ', '').split('\n')
    return `${what} at line ${error.line}, column ${error.column}`
  }
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

/** Throws `SvcError('config_invalid')` with one line for every problem. */
export const loadConfig = (file: string): Config => valid(readConfigFile(file))

/** The config in a text. Throws as `loadConfig` does. */
export const parseConfig = (text: string, source: ConfigSource = {}): Config =>
  valid(readConfig(text, source))

function valid({ config, findings }: ConfigReading): Config {
  if (config !== undefined) return config
  throw new SvcError('config_invalid', findings.filter(isFailure).map(describe).join('\n'))
}

const nothingRead = (finding: Finding): ConfigReading => ({
  isRead: false,
  config: undefined,
  values: readTables({}, () => {}),
  findings: [finding],
  isGiven: () => false,
})

type Fail = (key: string, message: string) => void

/** Each key is parsed by itself, so that a mistake in one hides neither those in others nor their values. */
function readTables(raw: Table, fail: Fail): PartialConfig {
  const read: Record<string, unknown> = {}
  for (const table of configTables) {
    const { name, optional, repeated } = table
    const given = raw[name]
    if (name === '') Object.assign(read, readTable(table, raw, fail))
    else if (!repeated)
      read[name] = optional && given === undefined ? undefined : readTable(table, given, fail)
    else if (given === undefined || Array.isArray(given)) {
      read[name] = (given ?? []).map((one: unknown, index: number) =>
        readTable({ ...table, name: `${name}[${index}]` }, one, fail),
      )
    } else {
      fail(name, `must be written as [[${name}]], once for each`)
      read[name] = []
    }
  }
  return read as PartialConfig
}

function readTable({ name: table, keys }: TableEntry, given: unknown, fail: Fail): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  if (given !== undefined && !isTable(given)) {
    fail(table, `must be a table, is ${showValue(given)}`)
    return values
  }
  for (const { name, type, presence, allowed } of keys) {
    const value = given?.[name]
    const wrong =
      value === undefined && presence === 'required'
        ? `required, but missing; must be ${allowed}`
        : `must be ${allowed}, is ${showValue(value)}`
    const { success, data, error } = type.safeParse(value, { error: () => wrong })
    if (success) values[name] = data
    else fail(table === '' ? name : `${table}.${name}`, error.issues[0]?.message ?? wrong)
  }
  return values
}

function withPathsFrom(directory: string, values: PartialConfig): PartialConfig {
  const { settlement, zerc20 } = values
  const { journal } = settlement
  const { artifacts } = zerc20
  const from = (path: string) => (path === 'none' ? path : resolve(directory, path))
  return {
    ...values,
    settlement: { ...settlement, ...(journal !== undefined && { journal: from(journal) }) },
    zerc20: { ...zerc20, ...(artifacts !== undefined && { artifacts: resolve(directory, artifacts) }) },
  }
}

type Given = { readonly path: string; readonly value: unknown }

const knownNames = [...knownPaths, ...configTables.flatMap(({ name }) => (name === '' ? [] : [name]))]
const isKnown = (path: string): boolean => knownNames.includes(path.replace(/\[\d+\]/, ''))

/** A key that the schema does not have. An unknown table is reported once, plus each secret inside it. */
function isUnknown(one: Given): boolean {
  const table = one.path.slice(0, Math.max(0, one.path.lastIndexOf('.')))
  return !isKnown(one.path) && (table === '' || isKnown(table) || hidesSecret(one))
}

function everythingIn(value: unknown, path: string): Given[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => everythingIn(one, `${path}[${index}]`))
  return Object.entries(isTable(value) ? value : {}).flatMap(([name, inside]) => {
    const whole = path === '' ? name : `${path}.${name}`
    return [{ path: whole, value: inside }, ...everythingIn(inside, whole)]
  })
}

/** Whether an unknown key may hold a secret. An address never does, so a misplaced `token` address is only a warning. */
const hidesSecret = ({ path, value }: Given): boolean =>
  looksLikeKey(value) || (soundsSecret(lastName(path)) && parseAddress(value) === undefined)

const lastName = (path: string): string => path.slice(path.lastIndexOf('.') + 1)

const secretMessage = (path: string): string =>
  path.startsWith('sellers[')
    ? 'a token of a seller never stands in the file, only its hash; make another, and set token_sha256'
    : 'secrets are never read from the file; remove it here, regard it as known to others, ' +
      'and set SVC_TREASURY_PK, SVC_RELAYER_PK, SVC_MINTER_PK or SVC_ADMIN_TOKEN in the environment'

/** Names the known key that was probably meant: the same name in another table, or the closest spelling. */
function nearest(path: string): string {
  const name = lastName(path)
  const elsewhere = knownPaths.filter((known) => known.endsWith(`.${name}`))
  const meant =
    elsewhere.length === 1 ? elsewhere[0] : nearestName(path.toLowerCase(), knownNames, name.length)
  return meant === undefined ? '' : `; did you mean ${meant}?`
}
