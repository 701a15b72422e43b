/** SD-JWT by its library: hashing, hiding and disclosing. Signatures and rules of our own are elsewhere. */
import { createHash } from 'node:crypto'
import { SDJwtInstance } from '@sd-jwt/core'
import { algorithm } from './jws.js'

export const statementType = 'dc+sd-jwt'
export const hashAlgorithm = 'sha-256'

export const sha256 = (text: string | ArrayBuffer): Uint8Array =>
  createHash('sha256')
    .update(typeof text === 'string' ? text : new Uint8Array(text))
    .digest()

/** The library with the means to issue, or only to read. */
export const sdJwt = (issuing?: { readonly sign: (text: string) => string; readonly salt: () => string }) =>
  new SDJwtInstance<Record<string, unknown>>({
    hashAlg: hashAlgorithm,
    hasher: sha256,
    signAlg: algorithm,
    ...(issuing && { signer: issuing.sign, saltGenerator: issuing.salt }),
  })
