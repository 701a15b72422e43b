/** Environment → keys. The only file of the daemon that reads `process.env`. */
import { SvcError } from '@svc-zerc20/protocol'
import { type Hex, hexToBytes } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type Config, isLoopback } from './config.js'
import { isDevelopmentKey } from './development-keys.js'

/** A value that never shows itself in logs, errors or dumps; `reveal` is easy to search for. */
export class Secret<T> {
  readonly #value: T

  constructor(value: T) {
    this.#value = value
  }

  reveal(): T {
    return this.#value
  }

  toJSON(): string {
    return '[secret]'
  }

  toString(): string {
    return '[secret]'
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]'
  }
}

export type Secrets = {
  readonly treasuryKey: Secret<Uint8Array>
  readonly relayer: Secret<PrivateKeyAccount>
  readonly adminToken?: Secret<string>
}

/** Keys are below it. Checked here, because the library would print a key that is not. */
const secp256k1Order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

export type Environment = Readonly<Record<string, string | undefined>>

/** Throws `SvcError('secrets_invalid')` listing every problem; the values never appear in it. */
export function readSecrets(
  config: Config,
  env: Environment = process.env,
): { secrets: Secrets; warnings: string[] } {
  const problems: string[] = []
  const warnings: string[] = []
  const treasuryPk = readKey('SVC_TREASURY_PK')
  const relayerPk = readKey('SVC_RELAYER_PK')
  const adminToken = env.SVC_ADMIN_TOKEN || undefined
  if (adminToken === undefined && needsAdminToken(config)) {
    problems.push('SVC_ADMIN_TOKEN: required for a non-loopback bind and for every profile but local')
  }
  if (problems.length > 0 || !treasuryPk || !relayerPk) {
    throw new SvcError('secrets_invalid', problems.join('\n'))
  }
  return {
    secrets: {
      treasuryKey: new Secret(hexToBytes(treasuryPk)),
      relayer: new Secret(privateKeyToAccount(relayerPk)),
      ...(adminToken !== undefined && { adminToken: new Secret(adminToken) }),
    },
    warnings,
  }

  function readKey(name: string): Hex | undefined {
    const value = env[name]
    if (value === undefined || value === '') {
      problems.push(`${name}: required`)
      return undefined
    }
    if (!/^0x[0-9a-fA-F]{64}$/.test(value) || BigInt(value) === 0n || BigInt(value) >= secp256k1Order) {
      problems.push(`${name}: must be a 32-byte hex private key`)
      return undefined
    }
    if (isDevelopmentKey(value as Hex)) {
      if (developmentKeysAllowed(config)) warnings.push(`${name} is a well-known development key`)
      else problems.push(`${name}: a well-known development key, allowed only on a local loopback network`)
    }
    return value as Hex
  }
}

function needsAdminToken(config: Config): boolean {
  return config.profile !== 'local' || !isLoopback(config.listen.host)
}

/** All four must hold: what one of them alone suggests is never enough. */
function developmentKeysAllowed({ profile, listen, network }: Config): boolean {
  return (
    profile === 'local' &&
    isLoopback(listen.host) &&
    isLoopback(new URL(network.rpc_url).hostname) &&
    network.chain_id === 31337
  )
}
