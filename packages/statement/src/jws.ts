/** Compact JWS as manifest, revocations and statements are signed: EdDSA over Ed25519, with three header parameters. */
import { Json } from '@svc-zerc20/protocol'
import { bytesOf, parseJson } from './encoding.js'
import { isSignedBy, type PublicJwk, type SigningKey } from './keys.js'

export const algorithm = 'EdDSA'

export type Jws = {
  readonly header: Json.JsonObject
  readonly payload: Json.JsonObject
  isSignedBy(key: PublicJwk): boolean
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

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
  const value = bytes === undefined ? undefined : parseJson(bytes.toString('utf8'))
  return Json.isObject(value) && Json.nestsWithin(value, 8) ? value : undefined
}

/** The header has these parameters and no others: nothing in it may choose a key or change a rule. */
export const hasOnly = (header: Json.JsonObject, ...names: readonly string[]): boolean =>
  Object.keys(header).every((name) => names.includes(name))

/** Whether the header is one of this type, signed as all papers of an issuer are. */
export const isHeaderOf = (typ: string, header: Json.JsonObject): boolean =>
  header.alg === algorithm && header.typ === typ && hasOnly(header, 'alg', 'typ', 'kid')
