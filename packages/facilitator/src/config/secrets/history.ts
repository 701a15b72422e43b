/** The settings of the payment history, from the environment, as service.md has it. Never shows a value. */
import { resolve } from 'node:path'
import { type Address, Secret } from '@svc-zerc20/protocol'
import { type Finding, isFailure } from '../finding.js'
import type { PartialConfig } from '../schema.js'
import { isLoopback } from '../settings.js'
import {
  belongsToHistory,
  type Environment,
  environmentVariables,
  historyVariables,
  namesOf,
  readVariable,
  type Say,
  statementTtlSecondsDefault,
} from './environment.js'

export const participantRoles = ['payer', 'provider'] as const
export type ParticipantRole = (typeof participantRoles)[number]

/** The one participant of a role: its tokens carry this tenant and this actor. */
export type ParticipantBinding = {
  readonly tenant: string
  readonly actor: string
  /** Its wallet. A payer with a wallet sees the payments of that wallet. */
  readonly address?: Address
}

export type HistorySettings = {
  readonly path: string
  readonly identitySecret: Secret<string>
  readonly participants: Readonly<Record<ParticipantRole, ParticipantBinding>>
  /** Both participants have an address. */
  readonly hasWalletLogin: boolean
  /** Absent: no statements are issued. */
  readonly issuer?: IssuerSettings
}

export type IssuerSettings = {
  readonly privateKeyPath: string
  readonly manifestPath: string
  readonly trustAnchorPath: string
  readonly artifactPath: string
  /** Default: the issuer of the manifest. */
  readonly id?: string
  /** Default: the key of the manifest that belongs to the private key. */
  readonly keyId?: string
  readonly statementTtlSeconds: number
}

export type HistoryReading = {
  /** Absent: the history is not attached, or something failed. */
  readonly history: HistorySettings | undefined
  readonly findings: readonly Finding[]
}

/** Relative paths start at the working directory. */
export function examineHistory(env: Environment, config: PartialConfig): HistoryReading {
  const findings: Finding[] = []
  const say: Say = (level, key, message) => findings.push({ level, key, message })
  warnOfUnknown(env, say)
  const issuer = examineIssuerGroup(env, say)
  const missing = namesOf('history').filter((name) => !env[name])
  const [first, ...others] = missing
  if (first !== undefined) {
    const also =
      others.length === 0 ? '' : `, and neither ${others.length === 1 ? 'is' : 'are'} ${others.join(', ')}`
    const message = `not set${also}: the payment history is not attached; it needs its whole group of variables`
    if (historyVariables.some(({ name }) => env[name])) say('warn', first, message)
    return { history: undefined, findings }
  }
  const participants = examineParticipants(env, say)
  const identitySecret = examineIdentity(env, say)
  const given = readVariable(env, 'PAYMENT_HISTORY_PATH', say)
  const path = given === undefined ? undefined : resolve(given)
  if (path !== undefined) judgePaths(path, config, issuerPathsOf(env), say)
  judgeUrl(config, say)
  if (config.settlement.journal === 'none' && config.storage.url === undefined) {
    const message =
      'settlement.journal is "none": what happens between the last record and a crash is missing from the history for good'
    say('warn', 'PAYMENT_HISTORY_PATH', message)
  }
  if (findings.some(isFailure) || !participants || !identitySecret || path === undefined) {
    return { history: undefined, findings }
  }
  return { history: { path, identitySecret, ...participants, ...(issuer && { issuer }) }, findings }
}

function warnOfUnknown(env: Environment, say: Say): void {
  const known: readonly string[] = historyVariables.map(({ name }) => name)
  for (const name of Object.keys(env).filter((name) => belongsToHistory(name) && !known.includes(name))) {
    say('warn', name, 'no variable of the payment history has this name; it is ignored')
  }
}

function examineParticipants(
  env: Environment,
  say: Say,
): Pick<HistorySettings, 'participants' | 'hasWalletLogin'> | undefined {
  const payer = bindingOf(env, 'PAYER', say)
  const provider = bindingOf(env, 'PROVIDER', say)
  const unset = namesOf('wallet').filter((name) => !env[name])
  if (unset.length === 1) {
    say('warn', unset[0] ?? '', 'not set, while the other address is: there is no wallet login without both')
  }
  if (!payer || !provider) return undefined
  if (payer.tenant === provider.tenant && payer.actor === provider.actor) {
    const message = 'is that of the payer, and so is the tenant: payer and provider must be two participants'
    say('fail', 'HISTORY_PROVIDER_ACTOR', message)
  }
  if (payer.address !== undefined && payer.address === provider.address) {
    say('fail', 'HISTORY_PROVIDER_ADDRESS', 'is HISTORY_PAYER_ADDRESS: a login could not tell who it is')
  }
  return { participants: { payer, provider }, hasWalletLogin: unset.length === 0 }
}

function bindingOf(env: Environment, role: 'PAYER' | 'PROVIDER', say: Say): ParticipantBinding | undefined {
  const tenant = readVariable(env, `HISTORY_${role}_TENANT`, say)
  const actor = readVariable(env, `HISTORY_${role}_ACTOR`, say)
  const address = readVariable(env, `HISTORY_${role}_ADDRESS`, say)
  if (tenant === undefined || actor === undefined) return undefined
  return { tenant, actor, ...(address !== undefined && { address }) }
}

/** Fewer different characters than this were typed, not drawn. */
const differentCharactersMin = 8

function examineIdentity(env: Environment, say: Say): Secret<string> | undefined {
  const name = 'HISTORY_IDENTITY_SECRET'
  const secret = readVariable(env, name, say)
  if (secret === undefined) return undefined
  const same = environmentVariables.find((variable) => env[variable.name] === secret)
  if (same) {
    const message = `is ${same.name}: whoever has one would have the other; make it with openssl rand -hex 32`
    say('fail', name, message)
  }
  if (new Set(secret).size < differentCharactersMin) {
    say('warn', name, 'has few different characters; it can be guessed')
  }
  return new Secret(secret)
}

type IssuerPath =
  `HISTORY_${'ISSUER_PRIVATE_KEY' | 'ISSUER_MANIFEST' | 'ISSUER_TRUST_ANCHOR' | 'ARTIFACT'}_PATH`

/** Half an issuer fails, with or without a history: somebody meant to have statements, and there would be none. */
function examineIssuerGroup(env: Environment, say: Say): IssuerSettings | undefined {
  const group = namesOf('issuer')
  const missing = group.filter((name) => !env[name])
  if (missing.length > 0) {
    const message = 'not set, but a statement issuer needs its whole group; set it, or unset all of the group'
    if (missing.length < group.length) for (const name of missing) say('fail', name, message)
    for (const name of namesOf('refinement').filter((name) => env[name])) {
      say('warn', name, `ignored: it refines a statement issuer, which needs ${missing.join(', ')}`)
    }
    return undefined
  }
  const at = (name: IssuerPath) => {
    const path = readVariable(env, name, say)
    return path === undefined ? undefined : resolve(path)
  }
  const privateKeyPath = at('HISTORY_ISSUER_PRIVATE_KEY_PATH')
  const manifestPath = at('HISTORY_ISSUER_MANIFEST_PATH')
  const trustAnchorPath = at('HISTORY_ISSUER_TRUST_ANCHOR_PATH')
  const artifactPath = at('HISTORY_ARTIFACT_PATH')
  const id = readVariable(env, 'HISTORY_ISSUER_ID', say)
  const keyId = readVariable(env, 'HISTORY_ISSUER_KEY_ID', say)
  const statementTtlSeconds =
    readVariable(env, 'HISTORY_PROOF_TTL_SECONDS', say) ?? statementTtlSecondsDefault
  if (!privateKeyPath || !manifestPath || !trustAnchorPath || !artifactPath) return undefined
  return {
    privateKeyPath,
    manifestPath,
    trustAnchorPath,
    artifactPath,
    statementTtlSeconds,
    ...(id !== undefined && { id }),
    ...(keyId !== undefined && { keyId }),
  }
}

/** The paths of the issuer group that are set, whether the group is complete or not. */
const issuerPathsOf = (env: Environment): readonly (readonly [name: string, path: string])[] =>
  namesOf('issuer').flatMap((name) => {
    const path = readVariable(env, name, () => {})
    return typeof path === 'string' ? [[name, resolve(path)] as const] : []
  })

/** Two parts of the daemon that write one file destroy it. The journal and the history have more files beside them. */
function judgePaths(
  path: string,
  { settlement: { journal } }: PartialConfig,
  others: ReturnType<typeof issuerPathsOf>,
  say: Say,
): void {
  const key = 'PAYMENT_HISTORY_PATH'
  const isBeside = (file: string, owner: string) => file === owner || file.startsWith(`${owner}.`)
  if (journal !== undefined && (isBeside(path, journal) || isBeside(journal, path))) {
    say('fail', key, 'is the place of settlement.journal or of a file beside it; take another name')
  }
  for (const [name, other] of others) {
    if (isBeside(other, path)) {
      say('fail', name, `is the place of ${key} or of a file beside it; take another name`)
    }
  }
}

function judgeUrl({ history, listen }: PartialConfig, say: Say): void {
  const key = 'history.url'
  if (history.url === undefined) {
    if (listen.port === 0) {
      say('warn', key, 'not set, while listen.port is 0: tokens and logins are bound to a URL without a port')
    }
    if (listen.host === undefined || isLoopback(listen.host)) return
    const message =
      'not set, while others can reach listen.host: tokens and logins are bound to an http URL of it'
    say('warn', key, message)
    return
  }
  const { protocol, hostname } = new URL(history.url)
  if (protocol !== 'https:' && !isLoopback(hostname)) {
    say('warn', key, 'is not https: tokens and histories cross the network in the clear')
  }
}
