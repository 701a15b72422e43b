/** The settings of the payment history. They come from the environment, as service.md has it. */
import { isIPv6 } from 'node:net'
import type { Address, Secret } from '@svc-zerc20/protocol'
import type { Config } from './keys.js'

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
  /** The secret before the newest one. Its tokens are taken until they expire, and no new ones are made with it. */
  readonly previousIdentitySecret?: Secret<string>
  readonly participants: Readonly<Record<ParticipantRole, ParticipantBinding>>
  /** Both participants have an address. */
  readonly hasWalletLogin: boolean
  /** Absent: no proofs are issued. */
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
  readonly proofTtlSeconds: number
}

/**
 * The URL under which participants know this facilitator, without a slash at its end. Tokens, logins and proofs name it.
 * @param port The port that was taken, where the configuration leaves it open.
 */
export function historyUrlOf(
  { history, listen }: Pick<Config, 'history' | 'listen'>,
  port: number = listen.port,
): string {
  const host = isIPv6(listen.host) ? `[${listen.host}]` : listen.host
  return history.url ?? `http://${host}:${port}`
}
