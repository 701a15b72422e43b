/**
 * A file of limits for several accounts or projects, laid over the environment. Of every limit the tighter
 * one holds, so that writing the file never allows more than the operator of the process did.
 */
import { readFileSync, statSync } from 'node:fs'
import { Json, nearestName, SvcError } from '@svc-zerc20/protocol'
import { parse } from 'smol-toml'
import { parseHostRules } from '../policy/hosts.js'
import type { Tightening } from '../policy/policy.js'
import type { Reading } from '../reading.js'
import { othersMayWrite } from '../store/files.js'
import * as Forms from './forms.js'

const listOf =
  <T>(read: (texts: string[]) => Reading<T>) =>
  (value: unknown): Reading<T> =>
    Array.isArray(value) && value.every((item) => typeof item === 'string')
      ? read(value)
      : { fault: 'wanted is a list of texts' }

const form =
  <T>({ read, wanted }: Forms.Form<T>) =>
  (value: unknown): Reading<T> => {
    const reading = typeof value === 'string' || typeof value === 'bigint' ? read(`${value}`) : undefined
    return reading && 'value' in reading ? reading : { fault: `wanted is ${wanted}` }
  }

const addresses = listOf((texts) => {
  const read = texts.map((text) => Forms.address.read(text))
  const bad = read.find((each) => 'fault' in each)
  return bad && 'fault' in bad
    ? { fault: `wanted is a list of addresses` }
    : { value: read.flatMap((each) => ('value' in each ? [each.value] : [])) }
})

/** Key of the file → limit of the policy. */
const keys: {
  readonly [key: string]: {
    readonly sets: keyof Tightening
    readonly read: (value: unknown) => Reading<unknown>
  }
} = {
  allowed_hosts: { sets: 'hosts', read: listOf(parseHostRules) },
  allowed_tokens: { sets: 'allowedTokens', read: addresses },
  allowed_helpers: { sets: 'allowedHelpers', read: addresses },
  max_per_payment: { sets: 'maxAmountPerPayment', read: form(Forms.baseUnits) },
  max_total: { sets: 'maxTotal', read: form(Forms.baseUnits) },
  max_per_host: { sets: 'maxPerHost', read: form(Forms.baseUnits) },
  max_per_day: { sets: 'maxPerDay', read: form(Forms.baseUnits) },
  max_gas_wei: { sets: 'maxGasWei', read: form(Forms.wei) },
  approve_above: { sets: 'approveAbove', read: form(Forms.baseUnits) },
  price_rise_percent: { sets: 'priceRisePercent', read: form(Forms.percent) },
}

const policyFileKeys = Object.keys(keys)

type Chosen = { readonly account: string | undefined; readonly project: string | undefined }

/**
 * The limits of a file that hold for an account and a project: those at its top, those of `[accounts."0x…"]`
 * and those of `[projects.name]`.
 *
 * @throws SvcError `payer_misconfigured` with one line for each fault. An unknown key is a fault: a
 * misspelled cap is no cap.
 */
export function readPolicyFile(path: string, { account, project }: Chosen): Tightening[] {
  const raw = parseToml(path)
  const faults: string[] = []
  const { accounts = {}, projects = {}, ...top } = raw
  const tables = (name: string, value: unknown) => {
    if (Json.isObject(value) && Object.values(value).every(Json.isObject)) {
      return Object.entries(value as Record<string, Json.JsonObject>)
    }
    faults.push(`${name}: wanted is [${name}.<name>]`)
    return []
  }
  // All tables are read, also those of other accounts and projects: a fault shows as soon as it is in the
  // file, not when it first matters.
  const all = {
    accounts: tables('accounts', accounts).map(([name, table]) => {
      if (!('value' in Forms.address.read(name))) faults.push(`accounts.${name}: the name is no address`)
      return [name.toLowerCase(), readTable(table, `accounts.${name}.`, faults)] as const
    }),
    projects: tables('projects', projects).map(
      ([name, table]) => [name, readTable(table, `projects.${name}.`, faults)] as const,
    ),
  }
  const chosen = all.projects.find(([name]) => name === project)
  if (project !== undefined && !chosen)
    faults.push(`projects.${project}: SVC_PROJECT names it, and it is not there`)
  const everybody = readTable(top, '', faults)
  if (faults.length > 0) {
    throw new SvcError('payer_misconfigured', faults.map((fault) => `${path}: ${fault}`).join('\n'))
  }
  const own = all.accounts.filter(([name]) => name === account?.toLowerCase()).map(([, limits]) => limits)
  return [everybody, ...own, ...(chosen ? [chosen[1]] : [])]
}

function parseToml(path: string): Json.JsonObject {
  try {
    const fault = othersMayWrite(statSync(path)) // whoever can write the limits can remove them
    if (fault) throw new Error(fault)
    return parse(readFileSync(path, 'utf8'), { integersAsBigInt: true }) as Json.JsonObject
  } catch (cause) {
    const [first] = (cause as Error).message.split('\n')
    throw new SvcError('payer_misconfigured', `SVC_POLICY_FILE: ${path}: ${first}`, { cause })
  }
}

function readTable(table: Json.JsonObject, prefix: string, faults: string[]): Tightening {
  const limits: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(table)) {
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined
    if (key === undefined) {
      const meant = nearestName(name, policyFileKeys)
      faults.push(`${prefix}${name}: there is no such limit${meant ? `; did you mean ${meant}?` : ''}`)
      continue
    }
    const reading = key.read(value)
    if ('fault' in reading) faults.push(`${prefix}${name}: ${reading.fault}`)
    else limits[key.sets] = reading.value
  }
  return limits as Tightening
}
