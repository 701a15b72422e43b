/**
 * A file of limits for several accounts or projects, laid over the environment. Of every limit the tighter
 * one holds, so that writing the file never allows more than the operator of the process did. A key is the name of a
 * variable in small letters and without its `SVC_`.
 */
import { readFileSync, statSync } from 'node:fs'
import { Json, nearestName, parseAddress, SvcError } from '@svc-zerc20/protocol'
import { parse } from 'smol-toml'
import type { Tightening } from '../policy/policy.js'
import { othersMayWrite } from '../state/files.js'
import { readValue } from './forms.js'
import { limitVariables, variables } from './variables.js'

const { network: _, approvalTimeoutMs: __, ...tightened } = limitVariables
const keys = new Map(
  Object.entries(tightened).map(([limit, name]) => [
    name.slice('SVC_'.length).toLowerCase(),
    { limit, form: variables[name].form },
  ]),
)

type Chosen = { readonly account: string | undefined; readonly project: string | undefined }

/**
 * The limits of a file that hold for an account and a project: those at its top, those of `[accounts."0x…"]`
 * and those of `[projects.name]`.
 *
 * @throws SvcError `payer_misconfigured` with one line for each fault. An unknown key is a fault: a
 * misspelled cap is no cap.
 */
export function readPolicyFile(path: string, { account, project }: Chosen): Tightening[] {
  const faults: string[] = []
  const { accounts = {}, projects = {}, ...top } = parseToml(path)
  const everybody = readTable(top, '', faults)
  // All tables are read, also those of other accounts and projects: a fault shows as soon as it is in the
  // file, not when it first matters.
  const ofAccounts = readTables('accounts', accounts, faults)
  const ofProjects = readTables('projects', projects, faults)
  for (const name of ofAccounts.keys()) {
    if (parseAddress(name) === undefined) faults.push(`accounts.${name}: the name is no address`)
  }
  if (project !== undefined && !ofProjects.has(project)) {
    faults.push(`projects.${project}: SVC_PROJECT names it, and it is not there`)
  }
  if (faults.length > 0) {
    throw new SvcError('payer_misconfigured', faults.map((fault) => `${path}: ${fault}`).join('\n'))
  }
  const isOwn = (name: string) => name.toLowerCase() === account?.toLowerCase()
  const own = [...ofAccounts].filter(([name]) => isOwn(name)).map(([, limits]) => limits)
  return [everybody, ...own, ...(project === undefined ? [] : [ofProjects.get(project) ?? {}])]
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

function readTables(kind: string, tables: unknown, faults: string[]): Map<string, Tightening> {
  if (Json.isObject(tables) && Object.values(tables).every(Json.isObject)) {
    const entries = Object.entries(tables as Record<string, Json.JsonObject>)
    return new Map(entries.map(([name, table]) => [name, readTable(table, `${kind}.${name}.`, faults)]))
  }
  faults.push(`${kind}: expected [${kind}.<name>]`)
  return new Map()
}

function readTable(table: Json.JsonObject, prefix: string, faults: string[]): Tightening {
  const limits: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(table)) {
    const key = keys.get(name)
    if (key === undefined) {
      const meant = nearestName(name, [...keys.keys()])
      faults.push(`${prefix}${name}: there is no such limit${meant ? `; did you mean ${meant}?` : ''}`)
      continue
    }
    const reading = readValue<unknown>(key.form, value)
    if ('fault' in reading) faults.push(`${prefix}${name}: ${reading.fault}`)
    else limits[key.limit] = reading.value
  }
  return limits
}
