/** Identity tokens: JWTs that live for 15 minutes, signed by HMAC-SHA-256 with the identity secret and nothing else. */
import {
  accept,
  type Clock,
  type ReasonCode,
  type Result,
  reject,
  type UnixSeconds,
  unixSeconds,
} from '@svc-zerc20/protocol'
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { type HistorySettings, type ParticipantRole, participantRoles } from '../../config/secrets/history.js'

/** A participant that has shown a good token. */
export type Participant = {
  readonly role: ParticipantRole
  readonly tenant: string
  readonly actor: string
  /** The end of the token. */
  readonly expiresAt: UnixSeconds
}

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
/** Says what a token is for, so that no other token under the same secret can pass for one (RFC 8725, 3.11). */
const tokenType = 'history+jwt'
const tokenSeconds = 900
const tokenIdBytes = 16
/** Our tokens have under 700 characters with names of usual length. */
const tokenCharactersMax = 4_096
/** How far the clock of the machine that made a token may be ahead of ours. */
const clockSkewSeconds = 5

export function createTokens(deps: {
  readonly settings: Pick<HistorySettings, 'identitySecret' | 'participants'>
  /** Issuer and audience of the tokens: the address of this facilitator as participants use it. */
  readonly url: string
  readonly clock: Pick<Clock, 'now'>
  readonly random: { bytes(length: number): Uint8Array }
}): Tokens {
  const { url, clock } = deps
  const { identitySecret, participants } = deps.settings
  const key = Buffer.from(identitySecret.reveal(), 'utf8')

  /** The claims of a token of ours that is good now. */
  async function verify(token: string): Promise<Result<JWTPayload>> {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [algorithm],
        typ: tokenType,
        issuer: url,
        audience: url,
        requiredClaims: ['exp'],
        maxTokenAge: tokenSeconds,
        clockTolerance: clockSkewSeconds,
        currentDate: new Date(clock.now()),
      })
      return isOurForm(token, payload) ? accept(payload) : reject('token_malformed')
    } catch (error) {
      if (error instanceof errors.JOSEError) return reject(reasonOf(error))
      throw error
    }
  }

  /** Only a holder of the secret gets as far as this, so a stranger learns nothing from the reasons. */
  function judgeClaims({ aud, exp, ...claims }: JWTPayload): Result<Participant> {
    // A list is refused even with us in it: each of the others could use the token here.
    if (aud !== url) return reject('token_audience')
    const expiresAt = exp as UnixSeconds
    if (unixSeconds(clock) >= expiresAt) return reject('token_expired')
    const role = participantRoles.find((name) => name === claims.role)
    if (role === undefined) return reject('token_role')
    const { tenant, actor } = participants[role]
    if (claims.tenant !== tenant) return reject('token_tenant')
    return claims.sub === actor ? accept({ role, tenant, actor, expiresAt }) : reject('token_actor')
  }

  return {
    async issue(role) {
      const { tenant, actor } = participants[role]
      const issuedAt = unixSeconds(clock)
      const expiresAt = (issuedAt + tokenSeconds) as UnixSeconds
      const token = await new SignJWT({ tenant, role })
        .setProtectedHeader(headerOfOurs)
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
      const verified = await verify(bearer.value)
      return verified.ok ? judgeClaims(verified.value) : verified
    },
  }
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
const headerOfOurs = { alg: algorithm, typ: tokenType }
const claimsOfOurs = new Set(['iss', 'aud', 'sub', 'tenant', 'role', 'iat', 'nbf', 'exp', 'jti'])

/**
 * Whether a signed token is written as ours are. It has no further header field or claim, has none of them twice, and lives
 * no longer.
 */
function isOurForm(token: string, payload: JWTPayload): boolean {
  const [header, body, signature = ''] = token.split('.')
  const { iat = Number.NaN, exp = Number.NaN, jti } = payload
  return (
    Number.isSafeInteger(iat) &&
    Number.isSafeInteger(exp) &&
    exp > iat &&
    exp - iat <= tokenSeconds &&
    typeof jti === 'string' &&
    Object.keys(payload).every((name) => claimsOfOurs.has(name)) &&
    header === encoded(headerOfOurs) &&
    body === encoded(payload) &&
    signature === Buffer.from(signature, 'base64url').toString('base64url')
  )
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
  const isToken = token.length <= tokenCharactersMax && /^[\w.-]+ *$/.test(token)
  return isToken ? accept(token.trimEnd()) : reject('token_malformed')
}

const reasonOfClaim: Readonly<Record<string, ReasonCode>> = {
  iss: 'token_issuer',
  aud: 'token_audience',
  nbf: 'token_not_yet_valid',
  iat: 'token_not_yet_valid',
}

function reasonOf(error: errors.JOSEError): ReasonCode {
  if (error instanceof errors.JWTExpired) return 'token_expired'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'token_algorithm'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'token_signature'
  const isClaim = error instanceof errors.JWTClaimValidationFailed
  if (isClaim && error.claim === 'iat' && error.reason !== 'check_failed') return 'token_malformed'
  return (isClaim ? reasonOfClaim[error.claim] : undefined) ?? 'token_malformed'
}
