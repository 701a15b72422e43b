/** The issuer's manifest: its name and its keys, signed by the trust anchor. */
import { Json } from '@svc-zerc20/protocol'
import { isName, isSeconds, isWhole } from './forms.js'
import { isHeaderOf, readJws, signJws } from './jws.js'
import { type PublicJwk, parsePublicJwk, thumbprintOf } from './keys.js'
import { limits } from './limits.js'
import type { SigningKey } from './signing-key.js'
import { StatementError } from './statement-error.js'

const typ = 'svc-issuer-manifest+jwt'

export type IssuerKey = {
  readonly kid: string
  readonly jwk: PublicJwk
  /** Statements of this key are issued from here on, and before `exp`, if it is retired. They stay valid afterwards. */
  readonly nbf: number
  readonly exp?: number
  /** A thief of a revoked key can put any time into a statement. So none of its statements is believed, whatever its time. */
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

/** Reads a manifest of this anchor that is valid now. Throws `StatementError`. */
export function readManifest(text: string, anchor: PublicJwk, now: number): Manifest {
  const manifest = readManifestOfAnyTime(text, anchor)
  if (manifest.iat > now + limits.clockSkewSeconds) throw new StatementError('manifest_not_yet_valid')
  if (manifest.exp <= now) throw new StatementError('manifest_expired')
  return manifest
}

/** For the issuer alone, who makes the next manifest from the last one. Throws `StatementError`. */
export function readManifestOfAnyTime(text: string, anchor: PublicJwk): Manifest {
  const jws = text.length > limits.manifestCharsMax ? undefined : readJws(text.trim())
  if (jws === undefined) throw new StatementError('manifest_malformed')
  const { header, payload } = jws
  if (!isHeaderOf(typ, header)) {
    throw new StatementError('manifest_malformed', 'Its header is not one of a manifest.')
  }
  if (header.kid !== thumbprintOf(anchor)) throw new StatementError('manifest_anchor')
  if (!jws.isSignedBy(anchor)) throw new StatementError('manifest_signature')
  const manifest = parseManifest(payload)
  if (manifest === undefined) throw new StatementError('manifest_malformed')
  return manifest
}

/** Of several manifests the newest one that is valid. Throws when the first is not. */
export function newestManifest(texts: readonly string[], anchor: PublicJwk, now: number): Manifest {
  return newestOf(
    texts,
    (text) => readManifest(text, anchor, now),
    ({ seq }) => seq,
    'manifest_missing',
  )
}

/**
 * The first text is the one that the verifier chose. It must be good: a verifier that fetched a list, and got something else,
 * must not be left with the older one that came with the statement. The others count where they are good and newer.
 */
export function newestOf<T>(
  [first, ...others]: readonly string[],
  read: (text: string) => T,
  ageOf: (read: T) => number,
  none: 'manifest_missing' | 'revocations_missing',
): T {
  if (first === undefined) throw new StatementError(none)
  let newest = read(first)
  for (const text of others) {
    try {
      const found = read(text)
      if (ageOf(found) > ageOf(newest)) newest = found
    } catch (error) {
      if (!(error instanceof StatementError)) throw error
    }
  }
  return newest
}

function parseManifest({ iss, seq, iat, exp, keys }: Json.JsonObject): Manifest | undefined {
  if (!isName(iss) || !isWhole(seq) || !isSeconds(iat) || !isSeconds(exp)) return undefined
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
  if (!isName(kid) || jwk === undefined || !isSeconds(nbf)) return undefined
  if (exp !== undefined && !isSeconds(exp)) return undefined
  if (revokedAt !== undefined && !isSeconds(revokedAt)) return undefined
  return {
    kid,
    jwk,
    nbf,
    ...(exp === undefined ? {} : { exp }),
    ...(revokedAt === undefined ? {} : { revokedAt }),
  }
}
