/**
 * Ed25519 keys. Signatures are made and checked by `node:crypto`: libraries over WebCrypto print a warning about an
 * experimental feature on Node 20, and need a promise for every signature.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { Json, SvcError } from '@svc-zerc20/protocol'
import { bytesOf, parseJson } from './encoding.js'
import { StatementError } from './statement-error.js'

/** A public key in the form of RFC 8037. */
export type PublicJwk = { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string }

/** Undefined for anything but a public Ed25519 key. A private part is not taken along, and not accepted either. */
export function parsePublicJwk(value: unknown): PublicJwk | undefined {
  if (!Json.isObject(value) || value.kty !== 'OKP' || value.crv !== 'Ed25519' || 'd' in value)
    return undefined
  const { x } = value
  const point = typeof x === 'string' ? bytesOf(x) : undefined
  if (typeof x !== 'string' || point?.length !== 32 || isOfSmallOrder(point)) return undefined
  return { kty: 'OKP', crv: 'Ed25519', x }
}

/** The y of every point of small order, with both spellings of 0 and 1. The highest bit, the sign of x, is left out. */
const smallOrder = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
])

/** Under such a key one signature fits every text. Its owner could deny whatever it signed. */
const isOfSmallOrder = (point: Buffer): boolean =>
  smallOrder.has(Buffer.concat([point.subarray(0, 31), Buffer.of((point[31] ?? 0) & 0x7f)]).toString('hex'))

/** The trust anchor's file: a public JWK. Throws `anchor_malformed`. */
export function parseTrustAnchor(text: string): PublicJwk {
  const jwk = parsePublicJwk(parseJson(text))
  if (jwk === undefined) throw new StatementError('anchor_malformed')
  return jwk
}

/** The key's name where nobody gave it another: its thumbprint by RFC 7638. */
export function thumbprintOf({ crv, kty, x }: PublicJwk): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url')
}

export type SigningKey = { readonly publicJwk: PublicJwk; sign(text: string): string }

/** Reads a private Ed25519 key, as PKCS #8 in PEM or as a JWK. The error never holds a part of the key. */
export function parsePrivateKey(text: string): SigningKey {
  const key = readPrivateKey(text)
  if (key?.asymmetricKeyType !== 'ed25519') {
    throw new SvcError('key_malformed', 'no private Ed25519 key, neither as PEM (PKCS #8) nor as JWK')
  }
  const publicJwk = parsePublicJwk(createPublicKey(key).export({ format: 'jwk' }))
  if (publicJwk === undefined) throw new SvcError('key_malformed', 'the private key has no public part')
  return { publicJwk, sign: (data) => sign(null, Buffer.from(data), key).toString('base64url') }
}

function readPrivateKey(text: string): KeyObject | undefined {
  try {
    const jwk = parseJson(text)
    return Json.isObject(jwk) ? createPrivateKey({ key: jwk, format: 'jwk' }) : createPrivateKey(text)
  } catch {
    // The cause could quote the key.
    return undefined
  }
}

/** PKCS #8 around the 32 bytes of an Ed25519 key. */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A new private key as PEM, from 32 random bytes. */
export function makePrivateKey(seed: Uint8Array): string {
  if (seed.length !== 32) throw new SvcError('key_malformed', 'a key is made from 32 random bytes')
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' })
  return key.export({ format: 'pem', type: 'pkcs8' }) as string
}

export function isSignedBy(jwk: PublicJwk, text: string, signature: Uint8Array): boolean {
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  return signature.length === 64 && verify(null, Buffer.from(text), key, signature)
}
