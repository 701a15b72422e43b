/** SD-JWT by its library: hashing, hiding and disclosing. Signatures and rules of our own are elsewhere. */
import { sha256 as hash } from '@noble/hashes/sha2'
import { SDJwtInstance } from '@sd-jwt/core'
import { utf8Of } from './encoding.js'

export const statementType = 'dc+sd-jwt'
export const hashAlgorithm = 'sha-256'
export const algorithm = 'EdDSA'

export const sha256 = (text: string | ArrayBuffer): Uint8Array =>
  hash(typeof text === 'string' ? utf8Of(text) : new Uint8Array(text))

/** The library with the means to issue, or only to read. */
export const sdJwt = (issuing?: { readonly sign: (text: string) => string; readonly salt: () => string }) =>
  new SDJwtInstance<Record<string, unknown>>({
    hashAlg: hashAlgorithm,
    hasher: sha256,
    signAlg: algorithm,
    ...(issuing && { signer: issuing.sign, saltGenerator: issuing.salt }),
  })
