/** The issuer's manifest: its name and its keys, signed by the trust anchor. */
import { Json } from '@svc-zerc20/protocol'
import { isName, isWhole } from './forms.js'
import { algorithm, hasOnly, readJws, signJws } from './jws.js'
import { type PublicJwk, parsePublicJwk, type SigningKey, thumbprintOf } from './keys.js'
import { limits } from './limits.js'
import { ProofError } from './proof-error.js'

const typ = 'svc-issuer-manifest+jwt'

export type IssuerKey = {
  readonly kid: string
  readonly jwk: PublicJwk
  /** Proofs of this key are issued from here on, and before `exp`, if it is retired. They stay valid afterwards. */
  readonly nbf: number
  readonly exp?: number
  /** Whoever has a revoked key can put any time into a proof. So none of its proofs is believed, whatever its time. */
  readonly revokedAt?: number
}

export type Manifest = {
  readonly iss: string
  /** Counts the manifests of an issuer. */
  readonly seq: number
  readonly iat: number
  readonly exp: number
  readonly keys: readonly IssuerKey[]
}

export const signManifest = (anchor: SigningKey, manifest: Manifest): string =>
  signJws(anchor, { typ, kid: thumbprintOf(anchor.publicJwk) }, manifest)

/** Reads a manifest of this anchor that is valid now. Throws `ProofError`. */
export function readManifest(text: string, anchor: PublicJwk, now: number): Manifest {
  const manifest = readManifestOfAnyTime(text, anchor)
  if (manifest.iat > now + limits.clockSkewSeconds) throw new ProofError('manifest_not_yet_valid')
  if (manifest.exp <= now) throw new ProofError('manifest_expired')
  return manifest
}

/** For the issuer alone, who makes the next manifest from the last one. Throws `ProofError`. */
export function readManifestOfAnyTime(text: string, anchor: PublicJwk): Manifest {
  const jws = text.length > limits.manifestCharsMax ? undefined : readJws(text.trim())
  if (jws === undefined) throw new ProofError('manifest_malformed')
  const { header, payload } = jws
  if (header.alg !== algorithm || header.typ !== typ || !hasOnly(header, 'alg', 'typ', 'kid')) {
    throw new ProofError('manifest_malformed', 'Its header is not one of a manifest.')
  }
  if (header.kid !== thumbprintOf(anchor)) throw new ProofError('manifest_anchor')
  if (!jws.isSignedBy(anchor)) throw new ProofError('manifest_signature')
  const manifest = parseManifest(payload)
  if (manifest === undefined) throw new ProofError('manifest_malformed')
  return manifest
}

/** Of several manifests the newest one that is valid. Throws the error of the first when none is. */
export function newestManifest(texts: readonly string[], anchor: PublicJwk, now: number): Manifest {
  return newestOf(
    texts,
    (text) => readManifest(text, anchor, now),
    ({ seq }) => seq,
    'manifest_missing',
  )
}

export function newestOf<T>(
  texts: readonly string[],
  read: (text: string) => T,
  ageOf: (read: T) => number,
  none: 'manifest_missing' | 'revocations_missing',
): T {
  let newest: T | undefined
  let firstError: unknown
  for (const text of texts) {
    try {
      const found = read(text)
      if (newest === undefined || ageOf(found) > ageOf(newest)) newest = found
    } catch (error) {
      firstError ??= error
    }
  }
  if (newest === undefined) throw firstError ?? new ProofError(none)
  return newest
}

function parseManifest({ iss, seq, iat, exp, keys }: Json.JsonObject): Manifest | undefined {
  if (!isName(iss) || !isWhole(seq) || !isWhole(iat) || !isWhole(exp)) return undefined
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > limits.keysMax) return undefined
  const read = keys.map(parseKey).filter((key) => key !== undefined)
  // A key under two names could be revoked under one of them only.
  const isUnique = (names: readonly string[]) => new Set(names).size === keys.length
  if (!isUnique(read.map(({ kid }) => kid)) || !isUnique(read.map(({ jwk }) => jwk.x))) return undefined
  return { iss, seq, iat, exp, keys: read }
}

function parseKey(value: unknown): IssuerKey | undefined {
  if (!Json.isObject(value)) return undefined
  const { kid, nbf, exp, revokedAt } = value
  const jwk = parsePublicJwk(value.jwk)
  if (!isName(kid) || jwk === undefined || !isWhole(nbf)) return undefined
  if (exp !== undefined && !isWhole(exp)) return undefined
  if (revokedAt !== undefined && !isWhole(revokedAt)) return undefined
  return {
    kid,
    jwk,
    nbf,
    ...(exp === undefined ? {} : { exp }),
    ...(revokedAt === undefined ? {} : { revokedAt }),
  }
}
