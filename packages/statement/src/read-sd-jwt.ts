/** Takes an SD-JWT apart, strictly and within bounds. The library reads more than the standard allows. */

import { bytesOf, parseJson } from './encoding.js'
import { isName } from './forms.js'
import { type Jws, readJws } from './jws.js'
import { limits } from './limits.js'
import { ProofError } from './statement-error.js'
import { sha256 } from './sd-jwt.js'

export type Disclosure = { readonly name: string; readonly digest: string }

export type ReadSdJwt = { readonly jws: Jws; readonly disclosures: readonly Disclosure[] }

/** Nothing in the result is believed yet. Throws `ProofError`. */
export function readSdJwt(proof: string): ReadSdJwt {
  if (proof.length > limits.proofCharsMax) throw new ProofError('proof_too_large')
  const [token = '', ...rest] = proof.split('~')
  const jws = readJws(token)
  const end = rest.pop()
  if (jws === undefined || end === undefined) throw new ProofError('proof_malformed')
  if (end !== '') throw new ProofError(readJws(end) ? 'key_binding' : 'proof_malformed')
  if (rest.length > limits.disclosuresMax) throw new ProofError('proof_too_large')
  return { jws, disclosures: rest.map(readDisclosure) }
}

/**
 * Whoever passes a proof on reads the names before anybody checked a signature, so they must be fit to be shown. Values are
 * texts and numbers: a value of thousands of brackets would exhaust the stack of the library.
 */
function readDisclosure(text: string): Disclosure {
  const value = parseJson(bytesOf(text)?.toString('utf8') ?? '')
  if (!Array.isArray(value) || value.length !== 3) throw new ProofError('disclosure_malformed')
  const [salt, name, claim] = value
  if (typeof salt !== 'string' || !isName(name)) throw new ProofError('disclosure_malformed')
  if (typeof claim !== 'string' && typeof claim !== 'number') throw new ProofError('disclosure_malformed')
  return { name, digest: Buffer.from(sha256(text)).toString('base64url') }
}
