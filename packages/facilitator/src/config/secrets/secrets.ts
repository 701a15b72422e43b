/** The keys and tokens of the daemon, from its environment. Says what is wrong or dangerous, and never shows a value. */
import { readFileSync } from 'node:fs'
import { Secret, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { hexToBytes } from 'viem/utils'
import { describe, type Finding, isFailure } from '../finding.js'
import type { Config, PartialConfig } from '../schema.js'
import { conditionsMissing, isLoopback } from '../settings.js'
import { isDevelopmentKey } from './development-keys.js'
import { type Environment, readVariable, type Say, tokenCharactersMin } from './environment.js'
import { examineHistory, type HistorySettings } from './history.js'
import { type SendingAccount, sendingAccountOf } from './sending-account.js'

export type Secrets = {
  readonly treasuryKey: Secret<Uint8Array>
  readonly relayer: Secret<SendingAccount>
  /** Sends mints; absent when the relayer does. */
  readonly minter?: Secret<SendingAccount>
  readonly adminToken?: Secret<string>
  /** Absent when no decider is used. */
  readonly deciderToken?: Secret<string>
  /** Absent when the database asks for none, or its URL has one. */
  readonly storagePassword?: Secret<string>
  /** Absent when no history is attached. */
  readonly history?: HistorySettings
}

export type SecretsReading = { readonly secrets: Secrets | undefined; readonly findings: readonly Finding[] }

/** Reports everything that is wrong or dangerous about the secrets. */
export function examineSecrets(config: PartialConfig, env: Environment): SecretsReading {
  const findings: Finding[] = []
  const say: Say = (level, key, message) => findings.push({ level, key, message })
  const requiredKey = (name: 'SVC_TREASURY_PK' | 'SVC_RELAYER_PK') => {
    if (!env[name]) say('fail', name, 'required, but not set')
    return examineKey(env, name, config, say)
  }
  const treasuryPk = requiredKey('SVC_TREASURY_PK')
  const relayerPk = requiredKey('SVC_RELAYER_PK')
  const minterPk = examineKey(env, 'SVC_MINTER_PK', config, say)
  judgeMinterKey(minterPk, { relayerPk, treasuryPk }, say)
  const adminToken = examineAdminToken(env, config, say)
  const deciderToken = readVariable(env, 'SVC_DECIDER_TOKEN', say)
  if (deciderToken !== undefined) judgeDeciderUrl(config, say)
  const storagePassword = examineStoragePassword(env, say)
  const { history, findings: ofHistory } = examineHistory(env, config)
  findings.push(...ofHistory)
  if (findings.some(isFailure) || !treasuryPk || !relayerPk) return { secrets: undefined, findings }
  const secrets = {
    treasuryKey: new Secret(hexToBytes(treasuryPk)),
    relayer: new Secret(sendingAccountOf(relayerPk)),
    ...(minterPk !== undefined && { minter: new Secret(sendingAccountOf(minterPk)) }),
    ...(adminToken !== undefined && { adminToken: new Secret(adminToken) }),
    ...(deciderToken !== undefined && { deciderToken: new Secret(deciderToken) }),
    ...(storagePassword !== undefined && { storagePassword: new Secret(storagePassword) }),
    ...(history !== undefined && { history }),
  }
  return { secrets, findings }
}

function examineKey(
  env: Environment,
  name: 'SVC_TREASURY_PK' | 'SVC_RELAYER_PK' | 'SVC_MINTER_PK',
  config: PartialConfig,
  say: Say,
): Hex | undefined {
  const key = readVariable(env, name, say)
  if (key === undefined || !isDevelopmentKey(key)) return key
  const missing = conditionsMissing(config)
  if (missing.length === 0) say('warn', name, 'a well-known development key; anybody can use it')
  else say('fail', name, `a well-known development key, which needs ${missing.join(' and ')}`)
  return key
}

function judgeMinterKey(
  key: Hex | undefined,
  { relayerPk, treasuryPk }: { readonly relayerPk: Hex | undefined; readonly treasuryPk: Hex | undefined },
  say: Say,
): void {
  if (key === undefined) return
  const name = 'SVC_MINTER_PK'
  if (key === relayerPk) {
    const message =
      'is the key of SVC_RELAYER_PK, so burns and mints share a sender; take another, or unset it'
    say('fail', name, message)
  }
  if (key === treasuryPk) {
    say('fail', name, 'is the key of SVC_TREASURY_PK, which signs transactions of its own; take another')
  }
}

function judgeDeciderUrl({ network }: PartialConfig, say: Say): void {
  if (network.decider_url === undefined) return
  if (network.decider_url === 'none') {
    say(
      'fail',
      'network.decider_url',
      'is none, but SVC_DECIDER_TOKEN is set: name the decider, or unset the token',
    )
    return
  }
  const { protocol, hostname } = new URL(network.decider_url)
  if (protocol === 'https:' || isLoopback(hostname)) return
  const message =
    'needs https or a loopback host: secrets of burn addresses would cross the network in the clear'
  say('fail', 'network.decider_url', message)
}

function examineAdminToken(
  env: Environment,
  { profile, listen }: PartialConfig,
  say: Say,
): string | undefined {
  const name = 'SVC_ADMIN_TOKEN'
  if (!env[name] && (profile !== 'local' || !isLoopback(listen.host ?? ''))) {
    say('fail', name, 'required for a bind that is not loopback and for every profile but local')
  }
  const token = readVariable(env, name, say)
  if (token !== undefined && token.length < tokenCharactersMin) {
    say('warn', name, `shorter than ${tokenCharactersMin} characters; it can be guessed`)
  }
  return token
}

// For commands that need one secret. Each throws `SvcError('secrets_invalid')` for a bad one, and without one that is required.

export const readDeciderToken = (env: Environment): string => readRequired(env, 'SVC_DECIDER_TOKEN')

export function readStoragePassword(env: Environment): Secret<string> | undefined {
  const password = examineStoragePassword(env, refuse)
  return password === undefined ? undefined : new Secret(password)
}

function examineStoragePassword(env: Environment, say: Say): string | undefined {
  const given = readVariable(env, 'SVC_STORAGE_PASSWORD', say)
  const name = 'SVC_STORAGE_PASSWORD_FILE'
  const file = readVariable(env, name, say)
  if (file === undefined) return given
  if (given !== undefined) say('fail', name, 'is set beside SVC_STORAGE_PASSWORD; unset one of them')
  const line = firstLineOf(file, name, say)
  if (line === '') say('fail', name, 'its first line is empty')
  return line
}

function firstLineOf(file: string, name: string, say: Say): string | undefined {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)[0]
  } catch (error) {
    say('fail', name, `cannot be read: ${(error as NodeJS.ErrnoException).code}`)
    return undefined
  }
}

function readRequired<Name extends 'SVC_DECIDER_TOKEN' | 'SVC_TREASURY_PK'>(env: Environment, name: Name) {
  return readVariable(env, name, refuse) ?? refuse('fail', name, 'required, but not set')
}

function refuse(_level: Finding['level'], name: string, message: string): never {
  throw new SvcError('secrets_invalid', `${name}: ${message}`)
}

/** Throws `SvcError('secrets_invalid')` with every problem. Never shows the values. */
export function readSecrets(config: Config, env: Environment): { secrets: Secrets; warnings: string[] } {
  const { secrets, findings } = examineSecrets(config, env)
  if (secrets === undefined) {
    throw new SvcError('secrets_invalid', findings.filter(isFailure).map(describe).join('\n'))
  }
  return { secrets, warnings: findings.map(describe) }
}
