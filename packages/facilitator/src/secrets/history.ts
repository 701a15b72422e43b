/** Reads the settings of the payment history from the environment. Never shows a value. */
import { resolve } from 'node:path'
import { type Address, Secret } from '@svc-zerc20/protocol'
import type { PartialConfig } from '../config/config.js'
import {
  belongsToHistory,
  type Environment,
  environmentVariables,
  type HistoryGroup,
  type HistoryVariable,
  historyNameCharactersMax,
  historyVariables,
  identitySecretCharactersMin,
  proofTtlSecondsDefault,
  proofTtlSecondsMax,
} from '../config/environment.js'
import type { HistorySettings, IssuerSettings, ParticipantBinding } from '../config/history-settings.js'
import { address } from '../config/types.js'
import type { Finding } from '../finding.js'
import { isLoopback } from './loopback.js'

export type HistoryReading = {
  /** Absent: the history is not attached, or something failed. */
  readonly history: HistorySettings | undefined
  readonly findings: readonly Finding[]
}

type Say = (level: Finding['level'], key: string, message: string) => void

/** @param directory Where relative paths start. */
export function examineHistory(env: Environment, config: PartialConfig, directory = '.'): HistoryReading {
  const findings: Finding[] = []
  const say: Say = (level, key, message) => findings.push({ level, key, message })
  warnOfUnknown(env, say)
  const issuer = examineIssuer(env, directory, say)
  const missing = namesOf('history').filter((name) => !env[name])
  const [first, ...others] = missing
  if (first !== undefined) {
    const also =
      others.length === 0 ? '' : `, and neither ${others.length === 1 ? 'is' : 'are'} ${others.join(', ')}`
    const message = `not set${also}: the payment history is not attached; it needs its whole group of variables`
    if (historyVariables.some(({ name }) => env[name])) say('warn', first, message)
    return { history: undefined, findings }
  }
  const failures = () => findings.filter(({ level }) => level === 'fail').length
  const participants = examineParticipants(env, say)
  const secrets = examineIdentity(env, say)
  const path = pathOf(env, 'PAYMENT_HISTORY_PATH', directory, say)
  judgePlaces(path, config, issuer, say)
  judgeUrl(config, say)
  judgeJournal(config, say)
  if (failures() > 0 || !participants || !secrets || path === undefined)
    return { history: undefined, findings }
  return { history: { path, ...secrets, ...participants, ...(issuer && { issuer }) }, findings }
}

const namesOf = (group: HistoryGroup): HistoryVariable[] =>
  historyVariables.filter((variable) => variable.group === group).map(({ name }) => name)

function warnOfUnknown(env: Environment, say: Say): void {
  const known: readonly string[] = historyVariables.map(({ name }) => name)
  for (const name of Object.keys(env).filter((name) => belongsToHistory(name) && !known.includes(name))) {
    say('warn', name, 'no variable of the payment history has this name; it is ignored')
  }
}

/** Half an issuer fails, with or without a history: somebody meant to have proofs, and there would be none. */
function examineIssuer(env: Environment, directory: string, say: Say): IssuerSettings | undefined {
  const group = namesOf('issuer')
  const missing = group.filter((name) => !env[name])
  if (missing.length > 0) {
    if (missing.length < group.length) {
      for (const name of missing) {
        say(
          'fail',
          name,
          'not set, but a proof issuer needs its whole group; set it, or unset all of the group',
        )
      }
    }
    for (const name of namesOf('refinement').filter((name) => env[name])) {
      say('warn', name, `ignored: it refines a proof issuer, which needs ${missing.join(', ')}`)
    }
    return undefined
  }
  const [privateKeyPath, manifestPath, trustAnchorPath, artifactPath] = group.map((name) =>
    pathOf(env, name, directory, say),
  )
  const id = env.HISTORY_ISSUER_ID ? nameOf(env, 'HISTORY_ISSUER_ID', say) : undefined
  const keyId = env.HISTORY_ISSUER_KEY_ID ? nameOf(env, 'HISTORY_ISSUER_KEY_ID', say) : undefined
  const proofTtlSeconds = proofTtlOf(env, say)
  if (!privateKeyPath || !manifestPath || !trustAnchorPath || !artifactPath) return undefined
  return {
    ...{ privateKeyPath, manifestPath, trustAnchorPath, artifactPath, proofTtlSeconds },
    ...(id !== undefined && { id }),
    ...(keyId !== undefined && { keyId }),
  }
}

/** The paths of the issuer group that are set, whether the group is complete or not. */
export const issuerPathsOf = (
  env: Environment,
  directory = '.',
): readonly (readonly [HistoryVariable, string])[] =>
  namesOf('issuer').flatMap((name) => {
    const text = env[name]
    return isPath(text) ? [[name, resolve(directory, text)] as const] : []
  })

const isPath = (text: string | undefined): text is string =>
  text !== undefined && text.trim() !== '' && !text.includes('\0')

function proofTtlOf(env: Environment, say: Say): number {
  const name = 'HISTORY_PROOF_TTL_SECONDS'
  const text = env[name]
  if (!text) return proofTtlSecondsDefault
  const seconds = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
  if (seconds > proofTtlSecondsMax)
    say('fail', name, `must be a whole number from 1 to ${proofTtlSecondsMax}`)
  return seconds
}

function examineParticipants(
  env: Environment,
  say: Say,
): Pick<HistorySettings, 'participants' | 'hasWalletLogin'> | undefined {
  const payer = bindingOf(env, 'PAYER', say)
  const provider = bindingOf(env, 'PROVIDER', say)
  const hasWalletLogin = Boolean(env.HISTORY_PAYER_ADDRESS && env.HISTORY_PROVIDER_ADDRESS)
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
  return { participants: { payer, provider }, hasWalletLogin }
}

function bindingOf(env: Environment, role: 'PAYER' | 'PROVIDER', say: Say): ParticipantBinding | undefined {
  const tenant = nameOf(env, `HISTORY_${role}_TENANT`, say)
  const actor = nameOf(env, `HISTORY_${role}_ACTOR`, say)
  const account = addressOf(env, `HISTORY_${role}_ADDRESS`, say)
  if (tenant === undefined || actor === undefined) return undefined
  return { tenant, actor, ...(account !== undefined && { address: account }) }
}

function addressOf(env: Environment, name: HistoryVariable, say: Say): Address | undefined {
  const text = env[name]
  if (!text) return undefined
  const parsed = address.parse(text)
  if (parsed === undefined) {
    say('fail', name, `must be ${address.allowed}; capitals, if mixed, must be those of its checksum`)
  }
  return parsed
}

function nameOf(env: Environment, name: HistoryVariable, say: Say): string | undefined {
  const text = env[name] ?? ''
  // A blank at an end is a typing mistake: no token would have the name that was meant.
  const isGood = text === text.trim() && text.length <= historyNameCharactersMax && !/\p{C}/u.test(text)
  if (isGood) return text
  const rule = `must be 1 to ${historyNameCharactersMax} printable characters, without blanks at its ends`
  say('fail', name, rule)
  return undefined
}

function pathOf(env: Environment, name: HistoryVariable, directory: string, say: Say): string | undefined {
  const text = env[name]
  if (isPath(text)) return resolve(directory, text)
  say('fail', name, 'must be a path')
  return undefined
}

function examineIdentity(
  env: Environment,
  say: Say,
): Pick<HistorySettings, 'identitySecret' | 'previousIdentitySecret'> | undefined {
  const current = secretOf(env, 'HISTORY_IDENTITY_SECRET', say)
  const name = 'HISTORY_IDENTITY_SECRET_PREVIOUS'
  const previous = env[name] ? secretOf(env, name, say) : undefined
  if (previous !== undefined && previous === env.HISTORY_IDENTITY_SECRET) {
    say('fail', name, 'is HISTORY_IDENTITY_SECRET: nothing was rotated; set a new secret, or unset this one')
  }
  if (current === undefined) return undefined
  return {
    identitySecret: new Secret(current),
    ...(previous !== undefined && { previousIdentitySecret: new Secret(previous) }),
  }
}

/** Fewer different characters than this were typed, not drawn. */
const differentCharactersMin = 8

function secretOf(env: Environment, name: HistoryVariable, say: Say): string | undefined {
  const secret = env[name] ?? ''
  if (secret.length < identitySecretCharactersMin) {
    say(
      'fail',
      name,
      `must have ${identitySecretCharactersMin} characters or more; make it with openssl rand -hex 32`,
    )
    return undefined
  }
  const same = environmentVariables.find((variable) => env[variable.name] === secret)
  if (same) {
    say(
      'fail',
      name,
      `is ${same.name}: whoever has one would have the other; make it with openssl rand -hex 32`,
    )
  }
  if (new Set(secret).size < differentCharactersMin) {
    say('warn', name, 'has few different characters; it can be guessed')
  }
  return secret
}

/** Two parts of the daemon that write one file destroy it. The journal and the history have more files beside them. */
function judgePlaces(
  path: string | undefined,
  { settlement: { journal } }: PartialConfig,
  issuer: IssuerSettings | undefined,
  say: Say,
): void {
  if (path === undefined) return
  const key = 'PAYMENT_HISTORY_PATH'
  const isBeside = (file: string, owner: string) => file === owner || file.startsWith(`${owner}.`)
  if (journal !== undefined && (isBeside(path, journal) || isBeside(journal, path))) {
    say('fail', key, 'is the place of settlement.journal or of a file beside it; take another name')
  }
  const others = {
    HISTORY_ISSUER_PRIVATE_KEY_PATH: issuer?.privateKeyPath,
    HISTORY_ISSUER_MANIFEST_PATH: issuer?.manifestPath,
    HISTORY_ISSUER_TRUST_ANCHOR_PATH: issuer?.trustAnchorPath,
    HISTORY_ARTIFACT_PATH: issuer?.artifactPath,
  }
  for (const [name, other] of Object.entries(others)) {
    if (other !== undefined && isBeside(other, path)) {
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
    say(
      'warn',
      key,
      'not set, while others can reach listen.host: tokens and logins are bound to an http URL of it',
    )
    return
  }
  const { protocol, hostname } = new URL(history.url)
  if (protocol !== 'https:' && !isLoopback(hostname)) {
    say('warn', key, 'is not https: tokens and histories cross the network in the clear')
  }
}

function judgeJournal({ settlement }: PartialConfig, say: Say): void {
  if (settlement.journal !== 'none') return
  const message =
    'settlement.journal is "none": what happens between the last record and a crash is missing from the history for good'
  say('warn', 'PAYMENT_HISTORY_PATH', message)
}
