/** Reads keys from the environment. The only file of the daemon that uses `process.env`. */
import { parseAccountKey, Secret, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { hexToBytes } from 'viem/utils'
import type { Config, PartialConfig } from '../config.js'
import { adminTokenCharactersMin, type Environment, isTakenOut } from '../environment.js'
import { describe, type Finding, isFailure } from '../finding.js'
import type { HistorySettings } from '../history-settings.js'
import { isDevelopmentKey } from './development-keys.js'
import { examineHistory } from './history.js'
import { isLoopback } from './loopback.js'

export type Secrets = {
  readonly treasuryKey: Secret<Uint8Array>
  readonly relayer: Secret<PrivateKeyAccount>
  /** Sends mints; absent when the relayer does. */
  readonly minter?: Secret<PrivateKeyAccount>
  readonly adminToken?: Secret<string>
  /** Absent when no decider is used. */
  readonly deciderToken?: Secret<string>
  /** Absent when no history is attached. */
  readonly history?: HistorySettings
}

export type SecretsReading = { readonly secrets: Secrets | undefined; readonly findings: readonly Finding[] }

/**
 * Copies the environment and removes the secrets from the process, so that later threads and child processes inherit
 * none and diagnostic reports show none. The kernel's copy from the start remains: the daemon's user and root can still
 * read `/proc/PID/environ` and memory dumps.
 */
export function takeEnvironment(): Environment {
  const taken = { ...process.env }
  for (const name of Object.keys(taken).filter(isTakenOut)) delete process.env[name]
  return taken
}

/** Reports everything that is wrong or dangerous about the secrets. Never shows their values. */
export function examineSecrets(config: PartialConfig, env: Environment): SecretsReading {
  const findings: Finding[] = []
  const say = (level: Finding['level'], key: string, message: string) =>
    findings.push({ level, key, message })
  const treasuryPk = readKey('SVC_TREASURY_PK')
  const relayerPk = readKey('SVC_RELAYER_PK')
  const minterPk = readMinterKey()
  const adminToken = readAdminToken()
  const deciderToken = readDeciderToken()
  const { history, findings: ofHistory } = examineHistory(env, config)
  findings.push(...ofHistory)
  if (findings.some(isFailure) || !treasuryPk || !relayerPk) return { secrets: undefined, findings }
  const secrets = {
    treasuryKey: new Secret(hexToBytes(treasuryPk)),
    relayer: new Secret(privateKeyToAccount(relayerPk)),
    ...(minterPk !== undefined && { minter: new Secret(privateKeyToAccount(minterPk)) }),
    ...(adminToken !== undefined && { adminToken: new Secret(adminToken) }),
    ...(deciderToken !== undefined && { deciderToken: new Secret(deciderToken) }),
    ...(history !== undefined && { history }),
  }
  return { secrets, findings }

  function readKey(name: string): Hex | undefined {
    const value = env[name]
    if (value === undefined || value === '') {
      say('fail', name, 'required, but not set')
      return undefined
    }
    const key = parseAccountKey(value)
    if (key === undefined) {
      say('fail', name, 'must be a private key: 64 hex digits, within the range of the curve')
      return undefined
    }
    if (isDevelopmentKey(key)) {
      const missing = conditionsMissing(config)
      if (missing.length === 0) say('warn', name, 'a well-known development key; anybody can use it')
      else say('fail', name, `a well-known development key, which needs ${missing.join(' and ')}`)
    }
    return key
  }

  function readMinterKey(): Hex | undefined {
    const name = 'SVC_MINTER_PK'
    // An empty variable in an environment file means that there is none.
    if (!env[name]) return undefined
    const key = readKey(name)
    const isSame = (other: Hex | undefined) => key !== undefined && key === other
    if (isSame(relayerPk)) {
      say(
        'fail',
        name,
        'is the key of SVC_RELAYER_PK, so burns and mints share a sender; take another, or unset it',
      )
    }
    if (isSame(treasuryPk)) {
      say('fail', name, 'is the key of SVC_TREASURY_PK, which signs transactions of its own; take another')
    }
    return key
  }

  function readDeciderToken(): string | undefined {
    const name = 'SVC_DECIDER_TOKEN'
    const token = env[name] || undefined
    if (token === undefined) return undefined
    if (!isDeciderToken(token)) say('fail', name, deciderTokenRule)
    const { decider_url: text } = config.network
    const url = text === undefined ? undefined : new URL(text)
    if (url && url.protocol !== 'https:' && !isLoopback(url.hostname)) {
      const message =
        'needs https or a loopback host: secrets of burn addresses would cross the network in the clear'
      say('fail', 'network.decider_url', message)
    }
    return token
  }

  function readAdminToken(): string | undefined {
    const name = 'SVC_ADMIN_TOKEN'
    const token = env[name] || undefined
    if (token === undefined) {
      if (needsAdminToken(config)) {
        say('fail', name, 'required for a bind that is not loopback and for every profile but local')
      }
      return undefined
    }
    // A header can carry no other characters, so such a token could never be used.
    if (!/^[\x21-\x7e]+$/.test(token)) say('fail', name, 'must be printable ASCII without spaces')
    else if (token.length < adminTokenCharactersMin) {
      say('warn', name, `shorter than ${adminTokenCharactersMin} characters; it can be guessed`)
    }
    return token
  }
}

const deciderTokenRule = `must be printable ASCII without spaces, ${adminTokenCharactersMin} characters or more`

const isDeciderToken = (token: string): boolean =>
  /^[\x21-\x7e]+$/.test(token) && token.length >= adminTokenCharactersMin

/** The token of a decider that is about to serve. Throws `SvcError('secrets_invalid')` without a good one. */
export function readDeciderToken(env: Environment): string {
  const token = env.SVC_DECIDER_TOKEN
  if (token !== undefined && isDeciderToken(token)) return token
  throw new SvcError('secrets_invalid', `SVC_DECIDER_TOKEN: ${deciderTokenRule}`)
}

/** Throws `SvcError('secrets_invalid')` with every problem. Never shows the values. */
export function readSecrets(
  config: Config,
  env: Environment = process.env,
): { secrets: Secrets; warnings: string[] } {
  const { secrets, findings } = examineSecrets(config, env)
  if (secrets === undefined) {
    throw new SvcError('secrets_invalid', findings.filter(isFailure).map(describe).join('\n'))
  }
  return { secrets, warnings: findings.map(describe) }
}

/** Checks the range here, because the library's error would print a key outside it. */
function needsAdminToken({ profile, listen }: PartialConfig): boolean {
  return profile !== 'local' || !isLoopback(listen.host ?? '')
}

/**
 * The conditions that are missing before public keys may be used. All four must hold, because each alone could be a
 * mistake.
 */
export function conditionsMissing({ profile, listen, network }: PartialConfig): string[] {
  const rpcHost = network.rpc_url === undefined ? '' : new URL(network.rpc_url).hostname
  return [
    profile !== 'local' && 'profile = "local"',
    !isLoopback(listen.host ?? '') && 'a loopback listen.host',
    !isLoopback(rpcHost) && 'a loopback host in network.rpc_url',
    network.chain_id !== 31337 && 'network.chain_id = 31337',
  ].filter((condition) => condition !== false)
}
