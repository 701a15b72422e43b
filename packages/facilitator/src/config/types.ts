/** The types of configuration values: how each is parsed, and how it is described in words. */
import { isIP } from 'node:net'
import {
  type Address,
  type BaseUnits,
  parseAddress,
  parseBaseUnits,
  toChecksum,
  zeroAddress,
} from '@svc-zerc20/protocol'

export type ValueType<T> = {
  /** Short, for the reference. */
  readonly name: string
  /** Completes the sentence "must be …". */
  readonly allowed: string
  /** `undefined` when the value is not allowed. TOML integers arrive as bigint, other numbers as number. */
  parse(value: unknown): T | undefined
  /** A more helpful message for a value that is not allowed; completes "key: …". */
  explain?(value: unknown): string | undefined
}

export const address: ValueType<Address> = {
  name: 'address',
  allowed: 'an address, 0x and 40 hex digits, not zero',
  parse(value) {
    const parsed = parseAddress(value)
    return parsed === zeroAddress || !hasGoodCapitals(value) ? undefined : parsed
  },
  explain(value) {
    if (typeof value === 'bigint' && value > 0n && value < addressLimit) {
      return 'is a number; an address stands in quotes'
    }
    if (parseAddress(value) === undefined || hasGoodCapitals(value)) return undefined
    return `${value} has capitals that are not those of its checksum (EIP-55), so a digit may be wrong; compare it with its source`
  },
}

const addressLimit = 2n ** 160n

/** Checks an address's checksum. All-lower and all-upper case have none; mixed case has one that catches typos. */
function hasGoodCapitals(text: unknown): boolean {
  const parsed = parseAddress(text)
  if (parsed === undefined || typeof text !== 'string') return false
  const digits = text.slice(2)
  return digits === digits.toLowerCase() || digits === digits.toUpperCase() || text === toChecksum(parsed)
}

export const url: ValueType<string> = {
  name: 'URL',
  allowed: 'an http or https URL',
  parse: (value) =>
    typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value) ? value : undefined,
}

/** A URL that paths are added to. It is compared as text, so it has one form: no slash at its end. */
export const baseUrl: ValueType<string> = {
  name: 'URL',
  allowed: 'an http or https URL without user, query and fragment',
  parse(value) {
    const text = url.parse(value)
    if (text === undefined) return undefined
    const { origin, pathname, username, password } = new URL(text)
    if (username !== '' || password !== '' || /[?#]/.test(text)) return undefined
    return `${origin}${pathname}`.replace(/\/+$/, '')
  },
}

export const host: ValueType<string> = {
  name: 'host',
  allowed: 'an IP address or a host name, without a port',
  parse: (value) =>
    typeof value === 'string' && (isIP(value) !== 0 || /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(value))
      ? value
      : undefined,
}

/** A name that is safe as a metric label and in a log line. */
export const sellerName: ValueType<string> = {
  name: 'name',
  allowed: 'a name of 1 to 40 lower-case letters, digits, dots, dashes and underscores',
  parse: (value) => (typeof value === 'string' && /^[a-z0-9._-]{1,40}$/.test(value) ? value : undefined),
}

export const sha256: ValueType<string> = {
  name: 'SHA-256',
  allowed: 'a SHA-256 hash, 64 hex digits',
  parse: (value) =>
    typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() : undefined,
}

const parsePath = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' && !value.includes('\0') ? value : undefined

export const filePath: ValueType<string> = {
  name: 'path or "none"',
  allowed: 'the path of a file, or "none"',
  parse: parsePath,
}

export const folderPath: ValueType<string> = {
  name: 'path',
  allowed: 'the path of a folder',
  parse: parsePath,
}

/** A whole number. Default maximum: the largest safe integer. */
export function integer({ min, max }: { min?: number; max?: number }): ValueType<number> {
  const atMost = max ?? Number.MAX_SAFE_INTEGER
  const atLeast = min ?? Number.MIN_SAFE_INTEGER
  const bounds = [min !== undefined && `at least ${min}`, max !== undefined && `at most ${max}`]
    .filter(Boolean)
    .join(' and ')
  return {
    name: 'integer',
    allowed: bounds === '' ? 'an integer' : `an integer of ${bounds}`,
    parse: (value) =>
      typeof value === 'bigint' && value >= BigInt(atLeast) && value <= BigInt(atMost)
        ? Number(value)
        : undefined,
  }
}

/** A string, because large amounts do not fit a TOML integer. */
export const baseUnits: ValueType<BaseUnits> = {
  name: 'base units',
  allowed: 'an amount in base units, a plain decimal integer or a string of one',
  parse: (value) => parseBaseUnits(typeof value === 'bigint' ? `${value}` : value),
}

export function oneOf<const T extends string>(...words: T[]): ValueType<T> {
  const list = words.map((word) => `"${word}"`)
  return {
    name: list.join(', '),
    allowed: `one of ${list.join(', ')}`,
    parse: (value) => words.find((word) => word === value),
  }
}

export function oneOfNumbers<const T extends number>(...numbers: T[]): ValueType<T> {
  return {
    name: numbers.join(' or '),
    allowed: numbers.join(' or '),
    parse: (value) => numbers.find((number) => typeof value === 'bigint' && BigInt(number) === value),
  }
}

/** Names that the HTTP server's trust-proxy setting accepts besides addresses. */
const proxyNames = new Set(['loopback', 'linklocal', 'uniquelocal'])

function isProxy(text: string): boolean {
  const [ip = '', prefix, ...more] = text.split('/')
  const version = isIP(ip)
  if (version === 0) return proxyNames.has(text)
  if (more.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
}

export const proxies: ValueType<string | string[]> = {
  name: 'IP addresses or CIDR blocks',
  allowed: 'IP addresses or CIDR blocks, as an array or as one string with commas',
  parse(value) {
    const list = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value
    const good = Array.isArray(list) && list.every((part) => typeof part === 'string' && isProxy(part))
    return good ? (value as string | string[]) : undefined
  },
}

export const flag: ValueType<boolean> = {
  name: 'true or false',
  allowed: 'true or false',
  parse: (value) => (typeof value === 'boolean' ? value : undefined),
}
