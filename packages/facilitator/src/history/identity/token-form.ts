/** The written form of a token: three parts, compact JSON, and a header with nothing to choose from. */
import { accept, Json, type Result, reject } from '@svc-zerc20/protocol'

/** Our tokens have under 700 characters with names of usual length. */
const tokenCharactersMax = 4_096

/** Says what a token is for, so that no other token under the same secret can pass for one (RFC 8725, 3.11). */
export const tokenType = 'history+jwt'

export type ReadToken = { readonly text: string; readonly keyId: string; readonly claims: Json.JsonObject }

/**
 * Reads a token without trusting it. Only the form that our own tokens have is taken: further header fields such as
 * `crit`, `b64`, `jku` or `jwk` would ask the reader to do something else, and doubled keys mean different things to
 * different readers.
 */
export function readToken(text: string): Result<ReadToken> {
  if (text.length > tokenCharactersMax) {
    return reject('token_malformed', `The token has more than ${tokenCharactersMax} characters.`)
  }
  const parts = text.split('.')
  const [header, claims] = [readPart(parts[0]), readPart(parts[1])]
  if (!header) return reject('token_malformed')
  const { alg, typ, kid, ...others } = header
  // Said first, because it explains a foreign or encrypted token best.
  if (alg !== 'HS256') return reject('token_algorithm')
  if (parts.length !== 3 || !claims || !isBase64Url(parts[2] ?? '')) return reject('token_malformed')
  if (typ !== tokenType || Object.keys(others).length > 0) return reject('token_malformed')
  return typeof kid === 'string' ? accept({ text, keyId: kid, claims }) : reject('token_key')
}

/** The object in a part. Undefined for text that `JSON.stringify` would write in another way, such as doubled keys. */
function readPart(part: string | undefined): Json.JsonObject | undefined {
  if (part === undefined || !isBase64Url(part)) return undefined
  const text = Buffer.from(part, 'base64url').toString('utf8')
  try {
    const value: unknown = JSON.parse(text)
    return Json.isObject(value) && JSON.stringify(value) === text ? value : undefined
  } catch {
    // No JSON.
    return undefined
  }
}

/** The one spelling of its bytes: no padding, no stray bits in the last character. */
const isBase64Url = (text: string): boolean =>
  text !== '' && Buffer.from(text, 'base64url').toString('base64url') === text
