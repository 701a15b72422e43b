/** Believes a proof, or says why not. Needs no network: the trust anchor is enough, with what the proof's file carries. */

import { bytesOf } from './encoding.js'
import { isName, isSeconds } from './forms.js'
import { algorithm, hasOnly, type Jws } from './jws.js'
import type { PublicJwk } from './keys.js'
import { limits } from './limits.js'
import { type IssuerKey, type Manifest, newestManifest } from './manifest.js'
import { ProofError, type ProofReason } from './statement-error.js'
import { type Disclosure, readSdJwt } from './read-sd-jwt.js'
import { newestRevocations, type Revocations } from './revocations.js'
import { hashAlgorithm, proofType, sdJwt } from './sd-jwt.js'
import { type Claims, formsOf, kindOf, type StatementKind, statementKinds } from './kinds.js'

export type Verification = {
  readonly trustAnchor: PublicJwk
  /** The newest valid one counts. The first, which the caller chose, must be valid. */
  readonly manifests: readonly string[]
  /** As with manifests. `unchecked`: the caller believes revoked proofs, too. */
  readonly revocations: readonly string[] | 'unchecked'
  /** Unix seconds. */
  readonly now: number
  /** The proof must be made for this audience. Without it, the caller compares what the proof says. */
  readonly audience?: string | undefined
  readonly nonce?: string | undefined
  /** Claims that must be disclosed. */
  readonly required?: readonly string[]
  /** Number of the newest manifest that the caller has seen before. */
  readonly manifestSeqMin?: number | undefined
}

export type VerifiedProof = {
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
  /** Claims of this kind that the proof does not tell: hidden, or never there. */
  readonly undisclosed: readonly string[]
  readonly manifestSeq: number
  /** When the list of revocations was signed. */
  readonly revocationsAt?: number
}

export type Verdict =
  | { readonly ok: true; readonly proof: VerifiedProof }
  | { readonly ok: false; readonly reason: ProofReason; readonly message: string }

export async function verifyProof(proof: string, how: Verification): Promise<Verdict> {
  try {
    return { ok: true, proof: await believe(proof, how) }
  } catch (error) {
    if (error instanceof ProofError) return { ok: false, reason: error.reason, message: error.message }
    throw error
  }
}

async function believe(proof: string, how: Verification): Promise<VerifiedProof> {
  const manifest = newestManifest(how.manifests, how.trustAnchor, how.now)
  if (manifest.seq < (how.manifestSeqMin ?? 0)) throw new ProofError('manifest_old')
  const { jws, disclosures } = readSdJwt(proof)
  const key = keyOf(jws, manifest)
  if (!jws.isSignedBy(key.jwk)) throw new ProofError('proof_signature')
  const kind = kindOf(jws.payload.vct)
  const told = registeredClaims(jws)
  if (kind === undefined) throw new ProofError('proof_kind')
  if (told.iss !== manifest.iss) throw new ProofError('proof_issuer')
  checkTimes(told, key, how.now)
  checkAddressee(told, how)
  const names = checkDisclosures(jws, kind, disclosures)
  const claims = await claimsOf(proof, kind, names)
  const hidden = how.required?.find((name) => !Object.hasOwn(claims, name))
  if (hidden !== undefined) throw new ProofError('claim_hidden', `It is ${hidden}.`)
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
  if (header.alg !== algorithm) throw new ProofError('proof_algorithm')
  if (header.typ !== proofType) throw new ProofError('proof_type')
  if (!hasOnly(header, 'alg', 'typ', 'kid')) throw new ProofError('proof_header')
  const key = keys.find(({ kid }) => kid === header.kid)
  if (key === undefined) throw new ProofError('proof_key_unknown')
  if (key.revokedAt !== undefined) throw new ProofError('proof_key_revoked')
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
    throw new ProofError('proof_incomplete')
  }
  if (nonce !== undefined && !isName(nonce)) throw new ProofError('proof_incomplete')
  return { iss, iat, exp, aud, jti, ...(nonce === undefined ? {} : { nonce }) }
}

function checkTimes({ iat, exp }: Registered, key: IssuerKey, now: number): void {
  if (iat > now + limits.clockSkewSeconds) throw new ProofError('proof_not_yet_valid')
  if (exp <= now) throw new ProofError('proof_expired')
  if (iat < key.nbf) throw new ProofError('proof_key_not_yet_valid')
  if (key.exp !== undefined && iat >= key.exp) throw new ProofError('proof_key_retired')
}

function checkAddressee({ aud, nonce }: Registered, asked: Verification): void {
  if (asked.audience !== undefined && asked.audience !== aud) {
    throw new ProofError('proof_audience', `It was made for ${aud}.`)
  }
  if (asked.nonce === undefined) return
  if (nonce === undefined) throw new ProofError('proof_nonce_missing')
  if (asked.nonce !== nonce) throw new ProofError('proof_nonce')
}

const registered = ['iss', 'iat', 'exp', 'aud', 'nonce', 'jti', 'vct', '_sd', '_sd_alg']

/** The names that are disclosed. Each belongs to the kind and to a digest of the proof, and each is there once. */
function checkDisclosures(
  { payload }: Jws,
  kind: StatementKind,
  disclosures: readonly Disclosure[],
): string[] {
  const { _sd: digests, _sd_alg: hash } = payload
  const open = formsOf(kind, 'open')
  if (hash !== hashAlgorithm) throw new ProofError('proof_hash')
  if (
    !Array.isArray(digests) ||
    !digests.every((digest) => typeof digest === 'string' && bytesOf(digest)?.length === 32)
  ) {
    throw new ProofError('proof_digests')
  }
  if (new Set(digests).size !== digests.length) throw new ProofError('proof_digests')
  const strange = Object.keys(payload).find(
    (name) => !registered.includes(name) && !Object.hasOwn(open, name),
  )
  if (strange !== undefined) throw new ProofError('claim_unknown')
  const hidden = formsOf(kind, 'hidden')
  const seen = new Set<string>()
  for (const { name, digest } of disclosures) {
    if (!digests.includes(digest)) throw new ProofError('disclosure_unknown')
    if (registered.includes(name) || Object.hasOwn(open, name)) throw new ProofError('disclosure_forbidden')
    if (!Object.hasOwn(hidden, name)) throw new ProofError('claim_unknown')
    if (seen.has(name)) throw new ProofError('disclosure_repeated')
    seen.add(name)
  }
  return [...seen]
}

/** The claims, put together by the library. Every one that is told has its form. */
async function claimsOf(proof: string, kind: StatementKind, disclosed: readonly string[]): Promise<Claims> {
  const payload = (await sdJwt().getClaims(proof)) as Readonly<Record<string, unknown>>
  const forms = { ...formsOf(kind, 'open'), ...formsOf(kind, 'hidden') }
  const told = [...Object.keys(statementKinds[kind].open), ...disclosed]
  const unfit = told.find((name) => forms[name]?.(payload[name]) !== true)
  if (unfit !== undefined) throw new ProofError('claim_malformed', `It is ${unfit}.`)
  return Object.fromEntries(told.map((name) => [name, payload[name] as string | number]))
}

function checkRevocations(
  jti: string,
  manifest: Manifest,
  { revocations, now }: Verification,
): Revocations | undefined {
  if (revocations === 'unchecked') return undefined
  const list = newestRevocations(revocations, manifest, now)
  if (list.revoked.includes(jti)) throw new ProofError('proof_revoked')
  return list
}
