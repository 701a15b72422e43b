/** The claims of a token, and the judgement of claims whose signature is good. */
import {
  accept,
  type Json,
  parseUnixSeconds,
  type Result,
  reject,
  type UnixSeconds,
} from '@svc-zerc20/protocol'
import { type HistorySettings, type ParticipantRole, participantRoles } from '../../config/secrets/history.js'

/** A participant that has shown a good token. */
export type Participant = {
  readonly role: ParticipantRole
  readonly tenant: string
  readonly actor: string
  /** The end of the token. */
  readonly expiresAt: UnixSeconds
}

/** How long a token is good. */
export const tokenSeconds = 900

/** How far the clock of the machine that made a token may be ahead of ours. */
const clockSkewSeconds = 5

export type Expected = {
  /** Issuer and audience: the address of this facilitator as participants use it. */
  readonly url: string
  readonly participants: HistorySettings['participants']
  readonly now: UnixSeconds
}

type Times = { readonly iat: UnixSeconds; readonly exp: UnixSeconds; readonly nbf: UnixSeconds }

const known = new Set(['iss', 'aud', 'sub', 'tenant', 'role', 'iat', 'nbf', 'exp', 'jti'])

/** Judges claims. Only a holder of the secret gets as far as this, so a stranger learns nothing from the reasons. */
export function judgeClaims(claims: Json.JsonObject, expected: Expected): Result<Participant> {
  const times = timesIn(claims)
  if (!times || typeof claims.jti !== 'string') return reject('token_malformed')
  if (Object.keys(claims).some((name) => !known.has(name))) return reject('token_malformed')
  if (claims.iss !== expected.url) return reject('token_issuer')
  // A list is refused even with us in it: each of the others could use the token here.
  if (claims.aud !== expected.url) return reject('token_audience')
  return judgeTimes(times, expected) ?? judgeNames(claims, times.exp, expected)
}

function timesIn(claims: Json.JsonObject): Times | undefined {
  const [iat, exp] = [parseUnixSeconds(claims.iat), parseUnixSeconds(claims.exp)]
  const nbf = claims.nbf === undefined ? iat : parseUnixSeconds(claims.nbf)
  return iat === undefined || exp === undefined || nbf === undefined ? undefined : { iat, exp, nbf }
}

function judgeTimes({ iat, exp, nbf }: Times, { now }: Expected) {
  // A long life is refused however good the signature is: nothing takes a token back before its end.
  if (exp <= iat || exp - iat > tokenSeconds) return reject('token_lifetime')
  if (Math.max(iat, nbf) > now + clockSkewSeconds) return reject('token_not_yet_valid')
  return now >= exp ? reject('token_expired') : undefined
}

function judgeNames(claims: Json.JsonObject, expiresAt: UnixSeconds, { participants }: Expected) {
  const role = participantRoles.find((name) => name === claims.role)
  if (role === undefined) return reject('token_role')
  const { tenant, actor } = participants[role]
  if (claims.tenant !== tenant) return reject('token_tenant')
  if (claims.sub !== actor) return reject('token_actor')
  return accept({ role, tenant, actor, expiresAt })
}
