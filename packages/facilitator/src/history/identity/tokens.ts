/** Identity tokens: JWTs that live for 15 minutes, signed by HMAC-SHA-256 with the identity secret and nothing else. */
import { createHmac } from 'node:crypto'
import {
  accept,
  type Clock,
  type Result,
  reject,
  type Secret,
  type UnixSeconds,
  unixSeconds,
} from '@svc-zerc20/protocol'
import { compactVerify, errors, SignJWT } from 'jose'
import type { HistorySettings, ParticipantRole } from '../../config/secrets/history.js'
import { judgeClaims, type Participant, tokenSeconds } from './token-claims.js'
import { readToken, tokenType } from './token-form.js'

/** A token that was just made. */
export type IssuedToken = Pick<Participant, 'role' | 'expiresAt'> & { readonly token: string }

export type Tokens = {
  issue(role: ParticipantRole): Promise<IssuedToken>
  /**
   * Judges the values of the `Authorization` headers of a request. Two headers are refused: a proxy may look at one of
   * them and we at the other.
   */
  read(authorization: string | readonly string[] | undefined): Promise<Result<Participant>>
}

const algorithm = 'HS256'
const tokenIdBytes = 16
const keyIdCharacters = 11

export function createTokens(deps: {
  readonly settings: Pick<HistorySettings, 'identitySecret' | 'participants'>
  /** Issuer and audience of the tokens: the address of this facilitator as participants use it. */
  readonly url: string
  readonly clock: Pick<Clock, 'now'>
  readonly random: { bytes(length: number): Uint8Array }
}): Tokens {
  const { settings, url, clock } = deps
  const { id, key } = keyOf(settings.identitySecret)

  return {
    async issue(role) {
      const { tenant, actor } = settings.participants[role]
      const issuedAt = unixSeconds(clock)
      const expiresAt = (issuedAt + tokenSeconds) as UnixSeconds
      const token = await new SignJWT({ tenant, role })
        .setProtectedHeader({ alg: algorithm, typ: tokenType, kid: id })
        .setIssuer(url)
        .setAudience(url)
        .setSubject(actor)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .setJti(Buffer.from(deps.random.bytes(tokenIdBytes)).toString('base64url'))
        .sign(key)
      return { token, role, expiresAt }
    },

    async read(authorization) {
      const bearer = bearerOf(authorization)
      if (!bearer.ok) return bearer
      const token = readToken(bearer.value)
      if (!token.ok) return token
      const { text, keyId, claims } = token.value
      if (keyId !== id) return reject('token_key')
      if (!(await isSignedWith(key, text))) return reject('token_signature')
      return judgeClaims(claims, { url, participants: settings.participants, now: unixSeconds(clock) })
    },
  }
}

/** The name of a secret is a hash of it, so that a token of a secret that was replaced is told apart from a forged one. */
function keyOf(secret: Secret<string>) {
  const key = Buffer.from(secret.reveal(), 'utf8')
  const id = createHmac('sha256', key).update('svc-zerc20/history/key-id/v1').digest('base64url')
  return { id: id.slice(0, keyIdCharacters), key }
}

/** The token of the one `Authorization: Bearer …` header. The word `bearer` may have any case (RFC 9110, 11.1). */
function bearerOf(authorization: string | readonly string[] | undefined): Result<string> {
  const values = typeof authorization === 'string' ? [authorization] : (authorization ?? [])
  const [value = '', second] = values
  if (second !== undefined) {
    return reject('token_malformed', 'The request has more than one Authorization header.')
  }
  const [, token] = /^bearer +(.*)$/is.exec(value) ?? []
  if (token === undefined) return reject('token_missing')
  // A list of credentials, as some servers make of two headers, is no token either.
  return /^[\w.-]+ *$/.test(token) ? accept(token.trimEnd()) : reject('token_malformed')
}

async function isSignedWith(key: Uint8Array, token: string): Promise<boolean> {
  try {
    await compactVerify(token, key, { algorithms: [algorithm] })
    return true
  } catch (error) {
    if (error instanceof errors.JOSEError) return false
    throw error
  }
}
