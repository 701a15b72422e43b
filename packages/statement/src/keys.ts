/** Public Ed25519 keys, and whether a text was signed by one. */
import { ed25519 } from '@noble/curves/ed25519'
import { bytesToHex } from '@noble/hashes/utils'
import { Json } from '@svc-zerc20/protocol'
import { base64urlOf, bytesOf, parseJson, utf8Of } from './encoding.js'
import { sha256 } from './sd-jwt.js'
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
const isOfSmallOrder = (point: Uint8Array): boolean =>
  smallOrder.has(bytesToHex(Uint8Array.of(...point.subarray(0, 31), (point[31] ?? 0) & 0x7f)))

/** The trust anchor's file: a public JWK. Throws `anchor_malformed`. */
export function parseTrustAnchor(text: string): PublicJwk {
  const jwk = parsePublicJwk(parseJson(text))
  if (jwk === undefined) throw new StatementError('anchor_malformed')
  return jwk
}

/** The key's name where nobody gave it another: its thumbprint by RFC 7638. */
export function thumbprintOf({ crv, kty, x }: PublicJwk): string {
  return base64urlOf(sha256(JSON.stringify({ crv, kty, x })))
}

/** By the letter of RFC 8032: one signature has one spelling. */
export function isSignedBy({ x }: PublicJwk, text: string, signature: Uint8Array): boolean {
  const key = bytesOf(x)
  if (key === undefined || signature.length !== 64) return false
  try {
    return ed25519.verify(signature, utf8Of(text), key, { zip215: false })
  } catch {
    // No point of the curve.
    return false
  }
}
