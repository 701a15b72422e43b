/** Private Ed25519 keys, of issuers. They are read and used by `node:crypto`, which knows every form of them. */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { Json, SvcError } from '@svc-zerc20/protocol'
import { parseJson } from './encoding.js'
import { type PublicJwk, parsePublicJwk } from './keys.js'

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
