/** Takes an SD-JWT apart, strictly and within bounds. The library reads more than the standard allows. */

import { type Jws, readJws } from './jws.js'
import { bytesOf, parseJson } from './keys.js'
import { limits } from './limits.js'
import { ProofError } from './proof-error.js'
import { sha256 } from './sd-jwt.js'

export type Disclosure = { readonly name: string; readonly value: unknown; readonly digest: string }

export type Structure = { readonly jws: Jws; readonly disclosures: readonly Disclosure[] }

/** Nothing in the result is believed yet. Throws `ProofError`. */
export function readSdJwt(proof: string): Structure {
  if (proof.length > limits.proofCharsMax) throw new ProofError('proof_too_large')
  const [token = '', ...rest] = proof.split('~')
  const jws = readJws(token)
  const end = rest.pop()
  if (jws === undefined || end === undefined) throw new ProofError('proof_malformed')
  if (end !== '') throw new ProofError(readJws(end) ? 'key_binding' : 'proof_malformed')
  if (rest.length > limits.disclosuresMax) throw new ProofError('proof_too_large')
  return { jws, disclosures: rest.map(readDisclosure) }
}

function readDisclosure(text: string): Disclosure {
  const value = parseJson(bytesOf(text)?.toString('utf8') ?? '')
  if (!Array.isArray(value) || value.length !== 3) throw new ProofError('disclosure_malformed')
  const [salt, name, claim] = value
  if (typeof salt !== 'string' || typeof name !== 'string') throw new ProofError('disclosure_malformed')
  return { name, value: claim, digest: Buffer.from(sha256(text)).toString('base64url') }
}
