/** The list of revoked statements, signed by a key of the issuer. It is short-lived, so that an old one is noticed. */
import type { Json } from '@svc-zerc20/protocol'
import { isName, isSeconds } from './forms.js'
import { isHeaderOf, readJws, signJws } from './jws.js'
import { limits } from './limits.js'
import { type Manifest, newestOf } from './manifest.js'
import type { SigningKey } from './signing-key.js'
import { StatementError } from './statement-error.js'

const typ = 'svc-revocations+jwt'

export type Revocations = {
  readonly iss: string
  readonly iat: number
  readonly exp: number
  /** The `jti` of every revoked statement that has not expired. */
  readonly revoked: readonly string[]
}

export const signRevocations = (key: SigningKey, kid: string, revocations: Revocations): string =>
  signJws(key, { typ, kid }, revocations)

/** Of several lists the newest one that is valid. Throws when the first is not. */
export function newestRevocations(texts: readonly string[], manifest: Manifest, now: number): Revocations {
  return newestOf(
    texts,
    (text) => readRevocations(text, manifest, now),
    ({ iat }) => iat,
    'revocations_missing',
  )
}

/** Reads a list of this manifest's issuer that is valid now. Throws `StatementError`. */
function readRevocations(text: string, manifest: Manifest, now: number): Revocations {
  const jws = text.length > limits.revocationsCharsMax ? undefined : readJws(text.trim())
  if (jws === undefined) throw new StatementError('revocations_malformed')
  const { header, payload } = jws
  if (!isHeaderOf(typ, header)) {
    throw new StatementError('revocations_malformed', 'Its header is not one of such a list.')
  }
  const key = manifest.keys.find(({ kid }) => kid === header.kid)
  if (key === undefined || key.revokedAt !== undefined) throw new StatementError('revocations_key')
  if (!jws.isSignedBy(key.jwk)) throw new StatementError('revocations_signature')
  const list = parseRevocations(payload)
  if (list === undefined) throw new StatementError('revocations_malformed')
  if (list.iss !== manifest.iss) throw new StatementError('revocations_issuer')
  if (list.iat > now + limits.clockSkewSeconds) throw new StatementError('revocations_not_yet_valid')
  if (list.iat < key.nbf || (key.exp !== undefined && list.iat >= key.exp))
    throw new StatementError('revocations_key')
  if (list.exp <= now) throw new StatementError('revocations_stale')
  return list
}

function parseRevocations({ iss, iat, exp, revoked }: Json.JsonObject): Revocations | undefined {
  if (!isName(iss) || !isSeconds(iat) || !isSeconds(exp) || !Array.isArray(revoked)) return undefined
  if (revoked.length > limits.revokedMax || !revoked.every(isName)) return undefined
  return { iss, iat, exp, revoked }
}
