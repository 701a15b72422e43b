/** Takes an SD-JWT apart, strictly and within bounds. The library reads more than the standard allows. */

import { base64urlOf, bytesOf, parseJson, textOf } from './encoding.js'
import { isName } from './forms.js'
import { type Jws, readJws } from './jws.js'
import { limits } from './limits.js'
import { sha256 } from './sd-jwt.js'
import { StatementError } from './statement-error.js'

export type Disclosure = { readonly name: string; readonly digest: string }

export type ReadSdJwt = { readonly jws: Jws; readonly disclosures: readonly Disclosure[] }

/** Nothing in the result is believed yet. Throws `StatementError`. */
export function readSdJwt(statement: string): ReadSdJwt {
  if (statement.length > limits.statementCharsMax) throw new StatementError('statement_too_large')
  const [token = '', ...rest] = statement.split('~')
  const jws = readJws(token)
  const end = rest.pop()
  if (jws === undefined || end === undefined) throw new StatementError('statement_malformed')
  if (end !== '') throw new StatementError(readJws(end) ? 'key_binding' : 'statement_malformed')
  if (rest.length > limits.disclosuresMax) throw new StatementError('statement_too_large')
  return { jws, disclosures: rest.map(readDisclosure) }
}

/**
 * A holder that passes a statement on reads the names before anybody checked a signature, so they must be fit to be shown.
 * Values are texts and numbers: a value of thousands of brackets would exhaust the stack of the library.
 */
function readDisclosure(text: string): Disclosure {
  const bytes = bytesOf(text)
  const value = bytes && parseJson(textOf(bytes))
  if (!Array.isArray(value) || value.length !== 3) throw new StatementError('disclosure_malformed')
  const [salt, name, claim] = value
  if (typeof salt !== 'string' || !isName(name)) throw new StatementError('disclosure_malformed')
  if (typeof claim !== 'string' && typeof claim !== 'number') throw new StatementError('disclosure_malformed')
  return { name, digest: base64urlOf(sha256(text)) }
}
