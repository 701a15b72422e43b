/** The forms of values, from the environment and from programs. Each one reads text or says what is wrong. */
import { isAbsolute } from 'node:path'
import {
  type Address,
  type BaseUnits,
  conversionOf,
  Network,
  parseAccountKey,
  parseAddress,
  parseBaseUnits,
  parseUrl,
  Secret,
} from '@svc-zerc20/protocol'
import { type HostRule, parseHostRules, type Reading } from '../policy/hosts.js'
import { printable } from '../printable.js'

export type Form<T> = {
  /** The form, as an error and the reference page say it. */
  readonly wanted: string
  /** The value, or a description of the fault that never repeats a secret. */
  read(text: string): Reading<T>
  /** The value of a list, which `read` takes as one text with commas. */
  readList?(texts: readonly string[]): Reading<T>
}

/** Reads a value that a program gives: a text, an integer, or a list of texts where the form is one. */
export function readValue<T>({ read, readList, wanted }: Form<T>, value: unknown): Reading<T> {
  if (readList) {
    return Array.isArray(value) && value.every(isText)
      ? readList(value)
      : { fault: 'expected a list of texts' }
  }
  if (!isText(value) && typeof value !== 'bigint') return { fault: `expected ${wanted}` }
  const reading = read(`${value}`)
  return 'value' in reading ? reading : { fault: `${reading.fault}; expected ${wanted}` }
}

const isText = (value: unknown): value is string => typeof value === 'string'

const shownCharsMax = 60

const looksLikeKey = (text: string) => /[0-9a-f]{60,}/i.test(text)

/** A value as an error shows it: short, printable, and never something that could be a key. */
function show(text: string): string {
  if (text === '') return 'the value is empty'
  if (looksLikeKey(text)) return 'the value looks like a private key and is not shown'
  const short = printable(text, shownCharsMax) + (text.length > shownCharsMax ? '…' : '')
  return `${JSON.stringify(short)} does not fit`
}

const fault = (text: string) => ({ fault: show(text) })
const orFault = <T>(value: T | undefined, text: string): Reading<T> =>
  value === undefined ? fault(text) : { value }

export const privateKey: Form<Secret<`0x${string}`>> = {
  wanted: '64 hex digits, with or without 0x, within the range of the curve',
  read(text) {
    if (text === '') return { fault: 'the value is empty' }
    const key = parseAccountKey(text)
    if (key !== undefined) return { value: new Secret(key) }
    return /^(?:0x)?[0-9a-f]{64}$/i.test(text)
      ? { fault: 'the number is outside the curve' }
      : { fault: `the value has ${text.length} characters or other ones than hex digits` }
  },
}

const tokenCharsMin = 32

export const bearerToken: Form<Secret<string>> = {
  wanted: `at least ${tokenCharsMin} characters of A to Z, a to z, 0 to 9 and - . _ ~ + / =`,
  read: (text) =>
    text.length >= tokenCharsMin && /^[\w\-.~+/=]+$/.test(text)
      ? { value: new Secret(text) }
      : { fault: `the value has ${text.length} characters, or other ones` },
}

export const url: Form<string> = {
  wanted: 'an http or https URL',
  read(text) {
    const isWeb = ['http:', 'https:'].includes(parseUrl(text)?.protocol ?? '')
    // The text is not shown, because a URL may hold an API key.
    return isWeb ? { value: text } : { fault: text === '' ? 'the value is empty' : 'the value is none' }
  },
}

export const baseUnits: Form<BaseUnits> = {
  wanted: 'a plain integer in base units of the token, like 1000000',
  read(text) {
    const value = parseBaseUnits(text)
    return value === undefined ? { fault: `${show(text)}: ${conversionOf(text)}` } : { value }
  },
}

export const wei: Form<BaseUnits> = {
  wanted: 'a plain integer of wei, like 10000000000000000',
  read: (text) => orFault(parseBaseUnits(text), text),
}

export const milliseconds: Form<number> = {
  wanted: 'a positive integer of milliseconds, at most 2147483647',
  read: (text) => orFault(wholeNumber(text, 1, 2_147_483_647), text),
}

export const percent: Form<number> = {
  wanted: 'an integer of percent, 0 to 1000000',
  read: (text) => orFault(wholeNumber(text, 0, 1_000_000), text),
}

export const network: Form<Network.Network> = {
  wanted: 'eip155:<chainId>',
  read: (text) =>
    orFault(Network.parseChainId(text) === undefined ? undefined : (text as Network.Network), text),
}

export const addresses: Form<readonly Address[]> = {
  wanted: 'an address: 0x and 40 hex digits; several with commas',
  read: (text) => readAddresses(text.split(',')),
  readList: readAddresses,
}

function readAddresses(texts: readonly string[]): Reading<readonly Address[]> {
  const read = texts.map(parseAddress)
  const bad = read.indexOf(undefined)
  return bad < 0 ? { value: read as Address[] } : fault(texts[bad] ?? '')
}

export const hosts: Form<HostRule> = {
  wanted: 'hostnames separated by commas, each with a port if only that one is meant, or *',
  read: (text) => (looksLikeKey(text) ? fault(text) : parseHostRules(text.split(','))),
  readList: parseHostRules,
}

/** A relative path would mean another folder, with its own limits, for every place that the program is started in. */
export const absolutePath: Form<string> = {
  wanted: 'an absolute path',
  read: (given) => (isAbsolute(given) ? { value: given } : fault(given)),
}

export const oneOf = <const T extends string>(...words: T[]): Form<T> => ({
  wanted: words.join(' or '),
  read: (given) =>
    orFault(
      words.find((word) => word === given),
      given,
    ),
})

function wholeNumber(text: string, min: number, max: number): number | undefined {
  const value = /^(?:0|[1-9]\d{0,9})$/.test(text) ? Number(text) : undefined
  return value !== undefined && value >= min && value <= max ? value : undefined
}
