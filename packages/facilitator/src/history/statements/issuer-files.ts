/**
 * The files of a statement issuer: trust anchor, key and manifest. The private key of the anchor signs manifests and nothing else,
 * so it belongs on another machine than the daemon; the commands can run there, too.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import {
  type IssuerKey,
  isName,
  type Manifest,
  makePrivateKey,
  parsePrivateKey,
  parseTrustAnchor,
  readManifestOfAnyTime,
  type SigningKey,
  signManifest,
  thumbprintOf,
} from '@svc-zerc20/statement'
import { replaceFile } from '../../store/journal/disk.js'
import { secondsPerDay } from '../payment.js'

const names = {
  anchorKey: 'trust-anchor-private-key.pem',
  anchor: 'trust-anchor.json',
  key: 'issuer-private-key.pem',
  manifest: 'manifest.jws',
} as const

export type IssuerFiles = Readonly<Record<keyof typeof names, string>>

/** Whole paths: they are set as variables of a daemon that starts elsewhere. */
const filesIn = (folder: string, anchorKey = join(folder, names.anchorKey)): IssuerFiles => ({
  anchorKey: resolve(anchorKey),
  anchor: resolve(folder, names.anchor),
  key: resolve(folder, names.key),
  manifest: resolve(folder, names.manifest),
})

const isPublic = { mode: 0o644 }

/** The time and the randomness of a change to the manifest. */
type Now = { readonly now: number; readonly random: { bytes(length: number): Uint8Array } }

export type Written = { readonly files: IssuerFiles; readonly manifest: Manifest; readonly kid: string }

const keysMax = 200

export async function initIssuer(
  wanted: { folder: string; issuer: string; days: number } & Now,
): Promise<Written> {
  const { folder, issuer, days, now, random } = wanted
  const files = filesIn(folder)
  const there = Object.values(files).filter(existsSync)
  if (there.length > 0) {
    throw new SvcError(
      'issuer_exists',
      `${there.join(', ')}: there is an issuer already; rotate changes its key`,
    )
  }
  if (!isName(issuer)) {
    throw new SvcError(
      'issuer_invalid',
      '--issuer: 1 to 256 printable characters without spaces, such as a URL',
    )
  }
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const anchorPem = makePrivateKey(random.bytes(32))
  const anchor = parsePrivateKey(anchorPem)
  const { pem, row } = newKey(now, random)
  const manifest = { iss: issuer, seq: 1, iat: now, exp: now + days * secondsPerDay, keys: [row] }
  await replaceFile(files.anchorKey, anchorPem)
  const anchorJwk = { ...anchor.publicJwk, kid: thumbprintOf(anchor.publicJwk) }
  await replaceFile(files.anchor, `${JSON.stringify(anchorJwk, undefined, 2)}\n`, isPublic)
  await replaceFile(files.key, pem)
  await replaceFile(files.manifest, `${signManifest(anchor, manifest)}\n`, isPublic)
  return { files, manifest, kid: row.kid }
}

/**
 * A new key. The one before is good for the time of the overlap, so that a running daemon can change over, and its private
 * part is gone then. Statements that it signed stay valid.
 */
export async function rotateIssuer(
  wanted: {
    folder: string
    anchorKey?: string | undefined
    overlapMinutes: number
    days: number
  } & Now,
): Promise<Written> {
  const { folder, overlapMinutes, days, now, random } = wanted
  const { files, anchor, before } = await openFiles(folder, wanted.anchorKey)
  const { pem, row } = newKey(now, random)
  if (before.keys.length >= keysMax) {
    throw new SvcError('issuer_full', `the manifest has ${before.keys.length} keys; begin a new issuer`)
  }
  const end = now + overlapMinutes * 60
  const retired = before.keys.map((key) => ({ ...key, exp: Math.min(key.exp ?? end, end) }))
  const manifest = next(before, now, [...retired, row], days)
  // The daemon finds the old key with the new manifest, which the overlap allows, or both new. Never a key in no manifest.
  await replaceFile(files.manifest, `${signManifest(anchor, manifest)}\n`, isPublic)
  await replaceFile(files.key, pem)
  return { files, manifest, kid: row.kid }
}

/** Revokes a key. Readers of the new manifest believe none of its statements. */
export async function revokeIssuerKey(
  wanted: { folder: string; anchorKey?: string | undefined; keyId: string } & Pick<Now, 'now'>,
): Promise<Written> {
  const { folder, keyId, now } = wanted
  const { files, anchor, before } = await openFiles(folder, wanted.anchorKey)
  if (!before.keys.some(({ kid }) => kid === keyId)) {
    const known = before.keys.map(({ kid }) => kid).join(', ')
    throw new SvcError('key_unknown', `the manifest has no key ${keyId}; its keys are ${known}`)
  }
  const keys = before.keys.map((key) =>
    key.kid === keyId ? { ...key, revokedAt: key.revokedAt ?? now } : key,
  )
  const manifest = next(before, now, keys)
  await replaceFile(files.manifest, `${signManifest(anchor, manifest)}\n`, isPublic)
  return { files, manifest, kid: keyId }
}

const next = (before: Manifest, now: number, keys: readonly IssuerKey[], days?: number): Manifest => ({
  iss: before.iss,
  seq: before.seq + 1,
  iat: now,
  exp: days === undefined ? before.exp : now + days * secondsPerDay,
  keys,
})

function newKey(now: number, random: Now['random']): { pem: string; row: IssuerKey } {
  const pem = makePrivateKey(random.bytes(32))
  const jwk = parsePrivateKey(pem).publicJwk
  return { pem, row: { kid: thumbprintOf(jwk), jwk, nbf: now } }
}

async function openFiles(
  folder: string,
  anchorKey: string | undefined,
): Promise<{ files: IssuerFiles; anchor: SigningKey; before: Manifest }> {
  const files = filesIn(folder, anchorKey)
  const trusted = parseTrustAnchor(await readFile(files.anchor, 'utf8'))
  const anchor = parsePrivateKey(await readFile(files.anchorKey, 'utf8'))
  if (anchor.publicJwk.x !== trusted.x) {
    throw new SvcError('anchor_mismatch', `${files.anchorKey} is not the private key of ${files.anchor}`)
  }
  return { files, anchor, before: readManifestOfAnyTime(await readFile(files.manifest, 'utf8'), trusted) }
}
