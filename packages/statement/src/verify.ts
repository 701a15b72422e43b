/** Believes a statement, or says why not. Needs no network: the trust anchor is enough, with what the statement's file carries. */

import { bytesOf } from './encoding.js'
import { isName, isSeconds } from './forms.js'
import { hasOnly, type Jws } from './jws.js'
import type { PublicJwk } from './keys.js'
import { type Claims, formsOf, kindOf, type StatementKind, statementKinds } from './kinds.js'
import { limits } from './limits.js'
import { type IssuerKey, type Manifest, newestManifest } from './manifest.js'
import { type Disclosure, readSdJwt } from './read-sd-jwt.js'
import { newestRevocations, type Revocations } from './revocations.js'
import { algorithm, hashAlgorithm, sdJwt, statementType } from './sd-jwt.js'
import { StatementError, type StatementReason } from './statement-error.js'

export type Verification = {
  readonly trustAnchor: PublicJwk
  /** The newest valid one counts. The first, which the caller chose, must be valid. */
  readonly manifests: readonly string[]
  /** As with manifests. `unchecked`: the caller believes revoked statements, too. */
  readonly revocations: readonly string[] | 'unchecked'
  /** Unix seconds. */
  readonly now: number
  /** The statement must be made for this audience. Without it, the caller compares what the statement says. */
  readonly audience?: string | undefined
  readonly nonce?: string | undefined
  /** Claims that must be disclosed. */
  readonly required?: readonly string[]
  /** Number of the newest manifest that the caller has seen before. */
  readonly manifestSeqMin?: number | undefined
}

export type VerifiedStatement = {
  readonly kind: StatementKind
  readonly issuer: string
  readonly kid: string
  readonly jti: string
  readonly issuedAt: number
  readonly expiresAt: number
  readonly audience: string
  readonly nonce?: string
  /** Open and disclosed claims. */
  readonly claims: Claims
  /** Claims of this kind that the statement does not tell: hidden, or never there. */
  readonly undisclosed: readonly string[]
  readonly manifestSeq: number
  /** When the list of revocations was signed. */
  readonly revocationsAt?: number
}

export type Verdict =
  | { readonly ok: true; readonly statement: VerifiedStatement }
  | { readonly ok: false; readonly reason: StatementReason; readonly message: string }

export async function verifyStatement(statement: string, how: Verification): Promise<Verdict> {
  try {
    return { ok: true, statement: await believe(statement, how) }
  } catch (error) {
    if (error instanceof StatementError) return { ok: false, reason: error.reason, message: error.message }
    throw error
  }
}

async function believe(statement: string, how: Verification): Promise<VerifiedStatement> {
  const manifest = newestManifest(how.manifests, how.trustAnchor, how.now)
  if (manifest.seq < (how.manifestSeqMin ?? 0)) throw new StatementError('manifest_old')
  const { jws, disclosures } = readSdJwt(statement)
  const key = keyOf(jws, manifest)
  if (!jws.isSignedBy(key.jwk)) throw new StatementError('statement_signature')
  const kind = kindOf(jws.payload.vct)
  const told = registeredClaims(jws)
  if (kind === undefined) throw new StatementError('statement_kind')
  if (told.iss !== manifest.iss) throw new StatementError('statement_issuer')
  checkTimes(told, key, how.now)
  checkAddressee(told, how)
  const names = checkDisclosures(jws, kind, disclosures)
  const claims = await claimsOf(statement, kind, names)
  const hidden = how.required?.find((name) => !Object.hasOwn(claims, name))
  if (hidden !== undefined) throw new StatementError('claim_hidden', `It is ${hidden}.`)
  const list = checkRevocations(told.jti, manifest, how)
  return {
    kind,
    issuer: told.iss,
    kid: key.kid,
    jti: told.jti,
    issuedAt: told.iat,
    expiresAt: told.exp,
    audience: told.aud,
    ...(told.nonce === undefined ? {} : { nonce: told.nonce }),
    claims,
    undisclosed: Object.keys(statementKinds[kind].hidden).filter((name) => !names.includes(name)),
    manifestSeq: manifest.seq,
    ...(list && { revocationsAt: list.iat }),
  }
}

function keyOf({ header }: Jws, { keys }: Manifest): IssuerKey {
  if (header.alg !== algorithm) throw new StatementError('statement_algorithm')
  if (header.typ !== statementType) throw new StatementError('statement_type')
  if (!hasOnly(header, 'alg', 'typ', 'kid')) throw new StatementError('statement_header')
  const key = keys.find(({ kid }) => kid === header.kid)
  if (key === undefined) throw new StatementError('statement_key_unknown')
  if (key.revokedAt !== undefined) throw new StatementError('statement_key_revoked')
  return key
}

type Registered = {
  readonly iss: string
  readonly iat: number
  readonly exp: number
  readonly aud: string
  readonly jti: string
  readonly nonce?: string
}

function registeredClaims({ payload }: Jws): Registered {
  const { iss, iat, exp, aud, jti, nonce } = payload
  if (!isName(iss) || !isName(aud) || !isName(jti) || !isSeconds(iat) || !isSeconds(exp)) {
    throw new StatementError('statement_incomplete')
  }
  if (nonce !== undefined && !isName(nonce)) throw new StatementError('statement_incomplete')
  return { iss, iat, exp, aud, jti, ...(nonce === undefined ? {} : { nonce }) }
}

function checkTimes({ iat, exp }: Registered, key: IssuerKey, now: number): void {
  if (iat > now + limits.clockSkewSeconds) throw new StatementError('statement_not_yet_valid')
  if (exp <= now) throw new StatementError('statement_expired')
  if (iat < key.nbf) throw new StatementError('statement_key_not_yet_valid')
  if (key.exp !== undefined && iat >= key.exp) throw new StatementError('statement_key_retired')
}

function checkAddressee({ aud, nonce }: Registered, asked: Verification): void {
  if (asked.audience !== undefined && asked.audience !== aud) {
    throw new StatementError('statement_audience', `It was made for ${aud}.`)
  }
  if (asked.nonce === undefined) return
  if (nonce === undefined) throw new StatementError('statement_nonce_missing')
  if (asked.nonce !== nonce) throw new StatementError('statement_nonce')
}

const registered = ['iss', 'iat', 'exp', 'aud', 'nonce', 'jti', 'vct', '_sd', '_sd_alg']

/** The names that are disclosed. Each belongs to the kind and to a digest of the statement, and each is there once. */
function checkDisclosures(
  { payload }: Jws,
  kind: StatementKind,
  disclosures: readonly Disclosure[],
): string[] {
  const { _sd: digests, _sd_alg: hash } = payload
  const open = formsOf(kind, 'open')
  if (hash !== hashAlgorithm) throw new StatementError('statement_hash')
  if (
    !Array.isArray(digests) ||
    !digests.every((digest) => typeof digest === 'string' && bytesOf(digest)?.length === 32)
  ) {
    throw new StatementError('statement_digests')
  }
  if (new Set(digests).size !== digests.length) throw new StatementError('statement_digests')
  const strange = Object.keys(payload).find(
    (name) => !registered.includes(name) && !Object.hasOwn(open, name),
  )
  if (strange !== undefined) throw new StatementError('claim_unknown')
  const hidden = formsOf(kind, 'hidden')
  const seen = new Set<string>()
  for (const { name, digest } of disclosures) {
    if (!digests.includes(digest)) throw new StatementError('disclosure_unknown')
    if (registered.includes(name) || Object.hasOwn(open, name))
      throw new StatementError('disclosure_forbidden')
    if (!Object.hasOwn(hidden, name)) throw new StatementError('claim_unknown')
    if (seen.has(name)) throw new StatementError('disclosure_repeated')
    seen.add(name)
  }
  return [...seen]
}

/** The claims, put together by the library. Every one that is told has its form. */
async function claimsOf(
  statement: string,
  kind: StatementKind,
  disclosed: readonly string[],
): Promise<Claims> {
  const payload = (await sdJwt().getClaims(statement)) as Readonly<Record<string, unknown>>
  const forms = { ...formsOf(kind, 'open'), ...formsOf(kind, 'hidden') }
  const told = [...Object.keys(statementKinds[kind].open), ...disclosed]
  const unfit = told.find((name) => forms[name]?.(payload[name]) !== true)
  if (unfit !== undefined) throw new StatementError('claim_malformed', `It is ${unfit}.`)
  return Object.fromEntries(told.map((name) => [name, payload[name] as string | number]))
}

function checkRevocations(
  jti: string,
  manifest: Manifest,
  { revocations, now }: Verification,
): Revocations | undefined {
  if (revocations === 'unchecked') return undefined
  const list = newestRevocations(revocations, manifest, now)
  if (list.revoked.includes(jti)) throw new StatementError('statement_revoked')
  return list
}
