/** Identity tokens that nobody may get in with, each with the reason it is refused for. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { ReasonCode } from '@svc-zerc20/protocol'
import { EncryptJWT } from 'jose'

export type HostileToken = {
  readonly name: string
  readonly reason: ReasonCode
  /** Values of the `Authorization` headers. */
  readonly authorization: readonly string[]
}

/** The knowledge of a thief or a careless issuer: a good token, and for forgeries by an insider the secret itself. */
export type TokenWorld = {
  /** A good token of the payer. */
  readonly token: string
  readonly secret: string
  readonly url: string
  readonly now: number
  readonly provider: { readonly tenant: string; readonly actor: string }
}

type Fields = Readonly<Record<string, unknown>>

const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

export const decode = (part: string | undefined): Fields =>
  JSON.parse(Buffer.from(part ?? '', 'base64url').toString('utf8')) as Fields

const hmac = (input: string, key: string | Buffer, hash = 'sha256'): string =>
  createHmac(hash, key).update(input).digest('base64url')

/** Signs whatever it is given. A string is taken as the JSON text itself. */
export function forge(header: unknown, claims: unknown, secret: string | Buffer, hash?: string): string {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${hmac(input, secret, hash)}`
}

export async function hostileTokens(world: TokenWorld): Promise<HostileToken[]> {
  const { token } = world
  const bearer = (name: string, reason: ReasonCode, text: string): HostileToken => ({
    name,
    reason,
    authorization: [`Bearer ${text}`],
  })
  return [
    ...written(token),
    ...tampered(world).map(([name, reason, text]) => bearer(name, reason, text)),
    ...algorithms(world).map(([name, reason, text]) => bearer(name, reason, text)),
    ...headers(world).map(([name, reason, text]) => bearer(name, reason, text)),
    ...claims(world).map(([name, reason, text]) => bearer(name, reason, text)),
    bearer('an encrypted token', 'token_malformed', await encrypted(world)),
  ]
}

type Case = readonly [name: string, reason: ReasonCode, token: string]

const written = (token: string): HostileToken[] => [
  { name: 'no header', reason: 'token_missing', authorization: [] },
  { name: 'an empty header', reason: 'token_missing', authorization: [''] },
  { name: 'the scheme alone', reason: 'token_missing', authorization: ['Bearer'] },
  { name: 'no scheme', reason: 'token_missing', authorization: [token] },
  { name: 'another scheme', reason: 'token_missing', authorization: [`Basic ${token}`] },
  { name: 'two headers', reason: 'token_malformed', authorization: [`Bearer ${token}`, `Bearer ${token}`] },
  {
    name: 'two headers, the first for somebody else',
    reason: 'token_malformed',
    authorization: ['Basic eDp5', `Bearer ${token}`],
  },
  {
    name: 'two headers joined by a proxy',
    reason: 'token_malformed',
    authorization: [`Bearer ${token}, Bearer ${token}`],
  },
  { name: 'no parts', reason: 'token_malformed', authorization: ['Bearer abc'] },
  {
    name: 'letters beyond ASCII',
    reason: 'token_malformed',
    authorization: ['Bearer t\u00f6ken.t\u00f6ken.t\u00f6ken'],
  },
]

function tampered({ token, now }: TokenWorld): Case[] {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const later = encode({ ...decode(payload), exp: now + 899, iat: now })
  const provider = encode({ ...decode(payload), role: 'provider' })
  const first = signature.startsWith('A') ? 'B' : 'A'
  return [
    ['a payload with another role', 'token_signature', [header, provider, signature].join('.')],
    ['a payload with a later end', 'token_signature', [header, later, signature].join('.')],
    [
      'a header with its fields in another order',
      'token_signature',
      [encode(Object.fromEntries(Object.entries(decode(header)).reverse())), payload, signature].join('.'),
    ],
    ['another signature', 'token_signature', [header, payload, first + signature.slice(1)].join('.')],
    ['half a signature', 'token_signature', [header, payload, signature.slice(0, 20)].join('.')],
    ['no signature', 'token_signature', `${header}.${payload}.`],
    ['two parts', 'token_malformed', `${header}.${payload}`],
    ['four parts', 'token_malformed', `${token}.${signature}`],
    ['padding', 'token_malformed', `${token}=`],
    // 32 bytes leave two bits of the last character unused.
    ['stray bits in the signature', 'token_malformed', `${token.slice(0, -1)}${strayBits(token.slice(-1))}`],
    ['a payload that is no JSON', 'token_signature', [header, encode('{"iss"'), signature].join('.')],
    ['a payload that is a list', 'token_signature', [header, encode('[]'), signature].join('.')],
  ]
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const strayBits = (last: string) => alphabet[alphabet.indexOf(last) ^ 1] ?? ''

function algorithms({ token, secret }: TokenWorld): Case[] {
  const [header, payload = ''] = token.split('.')
  const fields = decode(header)
  const none = ['none', 'None', 'NONE', 'nOnE'].flatMap((alg): Case[] => [
    [`alg ${alg} without a signature`, 'token_algorithm', `${encode({ ...fields, alg })}.${payload}.`],
    [`alg ${alg} with a signature`, 'token_algorithm', forge({ ...fields, alg }, decode(payload), secret)],
  ])
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const edInput = `${encode({ ...fields, alg: 'EdDSA' })}.${payload}`
  const edSignature = sign(null, Buffer.from(edInput), privateKey).toString('base64url')
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' })
  return [
    ...none,
    ['HS384', 'token_algorithm', forge({ ...fields, alg: 'HS384' }, decode(payload), secret, 'sha384')],
    ['HS512', 'token_algorithm', forge({ ...fields, alg: 'HS512' }, decode(payload), secret, 'sha512')],
    ['RS256', 'token_algorithm', forge({ ...fields, alg: 'RS256' }, decode(payload), secret)],
    ['hs256', 'token_algorithm', forge({ ...fields, alg: 'hs256' }, decode(payload), secret)],
    ['no algorithm', 'token_malformed', forge({ ...fields, alg: undefined }, decode(payload), secret)],
    ['EdDSA by a key of its own', 'token_algorithm', `${edInput}.${edSignature}`],
    ['HS256 with a public key as the secret', 'token_signature', forge(fields, decode(payload), publicPem)],
    ['HS256 with an empty secret', 'token_signature', forge(fields, decode(payload), '')],
    ['HS256 with another secret', 'token_signature', forge(fields, decode(payload), `${secret}x`)],
  ]
}

function headers({ token, secret }: TokenWorld): Case[] {
  const [header, payload] = token.split('.')
  const [fields, body] = [decode(header), decode(payload)]
  const with_ = (more: Fields) => forge({ ...fields, ...more }, body, secret)
  const doubled = JSON.stringify(fields).replace('{', '{"alg":"none",')
  return [
    ['a critical extension', 'token_malformed', with_({ crit: ['exp'] })],
    ['an unencoded payload', 'token_malformed', with_({ b64: false, crit: ['b64'] })],
    ['b64 alone', 'token_malformed', with_({ b64: false })],
    ['a key of its own', 'token_malformed', with_({ jwk: { kty: 'oct', k: encode('mine') } })],
    ['an address of keys', 'token_malformed', with_({ jku: 'https://keys.example/jwks.json' })],
    ['compression', 'token_malformed', with_({ zip: 'DEF' })],
    ['another type', 'token_malformed', with_({ typ: 'JWT' })],
    ['no type', 'token_malformed', with_({ typ: undefined })],
    ['a key id', 'token_malformed', with_({ kid: 'AAAAAAAAAAA' })],
    ['a key id that is a path', 'token_malformed', with_({ kid: '../../dev/null' })],
    ['a header with a doubled key', 'token_malformed', forge(doubled, body, secret)],
    ['a header with spaces', 'token_malformed', forge(JSON.stringify(fields, undefined, 1), body, secret)],
  ]
}

function claims({ token, secret, url, now, provider }: TokenWorld): Case[] {
  const [header, payload] = token.split('.')
  const [fields, body] = [decode(header), decode(payload)]
  const with_ = (more: Fields) => forge(fields, { ...body, ...more }, secret)
  const doubled = JSON.stringify(body).replace('{', '{"role":"provider",')
  return [
    ['an end that is over', 'token_expired', with_({ iat: now - 900, exp: now })],
    ['an end of long ago', 'token_expired', with_({ iat: now - 9_000, exp: now - 8_100 })],
    ['a beginning in the future', 'token_not_yet_valid', with_({ nbf: now + 60 })],
    ['issued in the future', 'token_not_yet_valid', with_({ iat: now + 60, exp: now + 900 })],
    ['a life of an hour', 'token_malformed', with_({ iat: now, exp: now + 3_600 })],
    ['a life of one second too long', 'token_malformed', with_({ iat: now, exp: now + 901 })],
    ['a life that ends before it begins', 'token_malformed', with_({ iat: now, exp: now - 1 })],
    ['a life of no time', 'token_malformed', with_({ iat: now + 3, exp: now + 3 })],
    ['a token id that is a number', 'token_malformed', with_({ jti: 7 })],
    [
      'issued in the future, though it began before',
      'token_not_yet_valid',
      with_({ iat: now + 60, nbf: now, exp: now + 900 }),
    ],
    ['more characters than any token', 'token_malformed', with_({ jti: 'x'.repeat(4_000) })],
    ['no end', 'token_malformed', with_({ exp: undefined })],
    ['an end in words', 'token_malformed', with_({ exp: String(now + 600) })],
    ['an end with a fraction', 'token_malformed', with_({ exp: now + 600.5 })],
    ['an end beyond all numbers', 'token_malformed', forge(fields, endless(body), secret)],
    ['no time of issue', 'token_malformed', with_({ iat: undefined })],
    ['no token id', 'token_malformed', with_({ jti: undefined })],
    ['a claim that we do not know', 'token_malformed', with_({ roles: ['payer', 'provider'] })],
    ['doubled claims', 'token_malformed', forge(fields, doubled, secret)],
    ['another issuer', 'token_issuer', with_({ iss: 'https://other.example' })],
    ['no issuer', 'token_issuer', with_({ iss: undefined })],
    ['another audience', 'token_audience', with_({ aud: 'https://other.example' })],
    ['an audience that begins like ours', 'token_audience', with_({ aud: `${url}.evil.example` })],
    ['several audiences, ours among them', 'token_audience', with_({ aud: [url, 'https://other.example'] })],
    ['a list with our audience alone', 'token_audience', with_({ aud: [url] })],
    ['the tenant of the other role', 'token_tenant', with_({ tenant: provider.tenant })],
    ['no tenant', 'token_tenant', with_({ tenant: undefined })],
    ['the actor of the other role', 'token_actor', with_({ sub: provider.actor })],
    ['an actor in other letters', 'token_actor', with_({ sub: String(body.sub).toUpperCase() })],
    ['the role of the other participant', 'token_tenant', with_({ role: 'provider' })],
    ['a role in upper case', 'token_role', with_({ role: 'PAYER' })],
    ['an unknown role', 'token_role', with_({ role: 'admin' })],
    ['a role that every object has', 'token_role', with_({ role: 'constructor' })],
    ['a list of roles', 'token_role', with_({ role: ['payer'] })],
    ['no role', 'token_role', with_({ role: undefined })],
  ]
}

const endless = (body: Fields) => JSON.stringify({ ...body, exp: 0 }).replace('"exp":0', '"exp":1e999')

const encrypted = ({ token, secret }: TokenWorld): Promise<string> =>
  new EncryptJWT(decode(token.split('.')[1]))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .encrypt(Buffer.from(secret.padEnd(32).slice(0, 32)))
