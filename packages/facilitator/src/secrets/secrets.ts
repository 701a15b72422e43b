/** Environment → keys. The only file of the daemon that reads `process.env`. */
import { Secret, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { hexToBytes } from 'viem/utils'
import type { Config, PartialConfig } from '../config/config.js'
import {
  adminTokenCharactersMin,
  belongsToHistory,
  type Environment,
  isTakenOut,
} from '../config/environment.js'
import { describe, type Finding, isFailure } from '../finding.js'
import { isDevelopmentKey, secp256k1Order } from './development-keys.js'
import { isLoopback } from './loopback.js'

export type Secrets = {
  readonly treasuryKey: Secret<Uint8Array>
  readonly relayer: Secret<PrivateKeyAccount>
  readonly adminToken?: Secret<string>
}

export type SecretsReading = { readonly secrets: Secrets | undefined; readonly findings: readonly Finding[] }

/**
 * The process' environment, with the secrets taken out of it: threads and child processes that start later
 * inherit none of them, and no diagnostic report shows them. What the kernel was given at the start stays as it was:
 * `/proc/PID/environ` and a memory dump still have it, for the daemon's user and for root.
 */
export function takeEnvironment(): Environment {
  const taken = { ...process.env }
  for (const name of Object.keys(taken).filter(isTakenOut)) delete process.env[name]
  return taken
}

/** Says everything about the secrets that is wrong or dangerous; the values never appear in it. */
export function examineSecrets(config: PartialConfig, env: Environment): SecretsReading {
  const findings: Finding[] = []
  const say = (level: Finding['level'], key: string, message: string) =>
    findings.push({ level, key, message })
  const treasuryPk = readKey('SVC_TREASURY_PK')
  const relayerPk = readKey('SVC_RELAYER_PK')
  const adminToken = readAdminToken()
  for (const name of Object.keys(env).filter(belongsToHistory)) {
    say('warn', name, 'payment history is not available in this version; the variable is ignored')
  }
  if (findings.some(isFailure) || !treasuryPk || !relayerPk) return { secrets: undefined, findings }
  const secrets = {
    treasuryKey: new Secret(hexToBytes(treasuryPk)),
    relayer: new Secret(privateKeyToAccount(relayerPk)),
    ...(adminToken !== undefined && { adminToken: new Secret(adminToken) }),
  }
  return { secrets, findings }

  function readKey(name: string): Hex | undefined {
    const value = env[name]
    if (value === undefined || value === '') {
      say('fail', name, 'required, but not set')
      return undefined
    }
    if (!isPrivateKey(value)) {
      say('fail', name, 'must be a private key: 0x and 64 hex digits, within the range of the curve')
      return undefined
    }
    if (isDevelopmentKey(value)) {
      const missing = conditionsMissing(config)
      if (missing.length === 0) say('warn', name, 'a well-known development key; anybody can use it')
      else say('fail', name, `a well-known development key, which needs ${missing.join(' and ')}`)
    }
    return value
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
    // No other character can be sent in the header, so nobody could ever use it.
    if (!/^[\x21-\x7e]+$/.test(token)) say('fail', name, 'must be printable ASCII without spaces')
    else if (token.length < adminTokenCharactersMin) {
      say('warn', name, `shorter than ${adminTokenCharactersMin} characters; it can be guessed`)
    }
    return token
  }
}

/** Throws `SvcError('secrets_invalid')` listing every problem; the values never appear in it. */
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

/** The range is checked here, because the library would print a key that is outside of it. */
function isPrivateKey(value: string): value is Hex {
  if (!/^0x[0-9a-fA-F]{64}$/.test(value)) return false
  const number = BigInt(value)
  return number > 0n && number < secp256k1Order
}

function needsAdminToken({ profile, listen }: PartialConfig): boolean {
  return profile !== 'local' || !isLoopback(listen.host ?? '')
}

/**
 * What is missing before keys that others have may be used. All four must hold: what one of them alone suggests is
 * never enough.
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
