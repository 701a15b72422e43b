/** Compact JWS as manifest, revocations and statements are signed: EdDSA over Ed25519, with three header parameters. */
import { Json } from '@svc-zerc20/protocol'
import { base64urlOf, bytesOf, parseJson, textOf, utf8Of } from './encoding.js'
import { isSignedBy, type PublicJwk } from './keys.js'
import { algorithm } from './sd-jwt.js'
import type { SigningKey } from './signing-key.js'

export type Jws = {
  readonly header: Json.JsonObject
  readonly payload: Json.JsonObject
  isSignedBy(key: PublicJwk): boolean
}

const encoded = (value: object) => base64urlOf(utf8Of(JSON.stringify(value)))

export function signJws(
  key: SigningKey,
  { typ, kid }: { typ: string; kid: string },
  payload: object,
): string {
  const text = `${encoded({ alg: algorithm, typ, kid })}.${encoded(payload)}`
  return `${text}.${key.sign(text)}`
}

/** Takes a compact JWS apart. Undefined when it is none. Nothing is believed before `isSignedBy`. */
export function readJws(text: string): Jws | undefined {
  const parts = text.split('.')
  const [header, payload] = parts.slice(0, 2).map(objectOf)
  const signature = bytesOf(parts[2] ?? '')
  if (parts.length !== 3 || header === undefined || payload === undefined || signature === undefined) {
    return undefined
  }
  const signed = text.slice(0, text.lastIndexOf('.'))
  return { header, payload, isSignedBy: (key) => isSignedBy(key, signed, signature) }
}

function objectOf(part: string): Json.JsonObject | undefined {
  const bytes = bytesOf(part)
  const value = bytes === undefined ? undefined : parseJson(textOf(bytes))
  return Json.isObject(value) && Json.nestsWithin(value, 8) ? value : undefined
}

/** The header has these parameters and no others: nothing in it may choose a key or change a rule. */
export const hasOnly = (header: Json.JsonObject, ...names: readonly string[]): boolean =>
  Object.keys(header).every((name) => names.includes(name))

/** Whether the header is one of this type, signed as all papers of an issuer are. */
export const isHeaderOf = (typ: string, header: Json.JsonObject): boolean =>
  header.alg === algorithm && header.typ === typ && hasOnly(header, 'alg', 'typ', 'kid')
