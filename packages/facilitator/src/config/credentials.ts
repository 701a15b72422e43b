/** Hides credentials in URLs and in misplaced values, so that they are never printed. */
import { parseUrl } from '@svc-zerc20/protocol'

const mask = '[secret]'

/** Whether the name of a key or of a URL parameter suggests a secret. */
export const soundsSecret = (name: string): boolean =>
  /(?:^|[_-])(?:pk|sk|key|token|secret|seed|mnemonic|password|passwd|auth|credentials?)$|(?:api|private)_?key/i.test(
    name,
  )

/** Larger than every valid number of a configuration, smaller than a private key written as a number. */
const numberMax = 2n ** 64n

/** Whether a value looks like a private key: 32 bytes of hex, or a number of that size. */
export const looksLikeKey = (value: unknown): boolean =>
  typeof value === 'string'
    ? /^\s*(?:0x)?[0-9a-f]{64}\s*$/i.test(value)
    : typeof value === 'bigint' && value >= numberMax

/** RPC providers put the account's key into the path: a long segment of letters and digits. */
const isKeySegment = (segment: string): boolean =>
  /^[\w-]{20,}$/.test(segment) && /\d/.test(segment) && /[a-z]/i.test(segment)

/** The URL with every credential masked. In a text that is no URL, everything before an `@` is masked. */
export function maskUrl(text: string): string {
  const url = parseUrl(text)
  if (!url) return text.replace(/\/\/[^/]*@/, `//${mask}@`)
  const { protocol, username, password, host, pathname, searchParams, search } = url
  const user = username !== '' || password !== '' ? `${mask}@` : ''
  const path = pathname
    .split('/')
    .map((segment) => (isKeySegment(segment) ? mask : segment))
    .join('/')
  const query = [...searchParams].map(([name, value]) =>
    soundsSecret(name) || isKeySegment(value) ? `${name}=${mask}` : `${name}=${encodeURIComponent(value)}`,
  )
  const masked = `${protocol}//${user}${host}${path}${search === '' ? '' : `?${query.join('&')}`}`
  // A URL without credentials is returned unchanged.
  return masked.includes(mask) ? masked : text
}

/** For `fetch`, which refuses a URL with a user and a password: both go into a header. */
export function urlAndHeaders(text: string): {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
} {
  const url = new URL(text)
  const { username, password } = url
  url.username = ''
  url.password = ''
  if (username === '' && password === '') return { url, headers: {} }
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { url, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } }
}

/** Whether a URL contains a credential. */
export const hasCredentials = (url: string): boolean => maskUrl(url).includes(mask)

const shownCharactersMax = 80

/** A configuration value for an error message: short, on one line, never a secret. */
export function showValue(value: unknown): string {
  if (looksLikeKey(value)) return 'a value that looks like a private key and is not shown'
  if (typeof value === 'bigint' || typeof value === 'boolean') return `${value}`
  if (typeof value === 'number') return Number.isInteger(value) ? `${value}.0` : `${value}`
  if (Array.isArray(value)) return shorten(`[${value.map(showValue).join(', ')}]`)
  if (value instanceof Date) return 'a date'
  if (typeof value !== 'string') return 'a table'
  return JSON.stringify(shorten(/:\/\//.test(value) ? maskUrl(value) : value))
}

const shorten = (text: string): string =>
  text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text
