/** The forms of single values in statements, manifests and lists. */
import { Network, parseAddress, parseBaseUnits, parseTxHash } from '@svc-zerc20/protocol'
import { limits } from './limits.js'

export type Form = (value: unknown) => boolean

/** A name that people and programs gave: printable, without spaces, so that it can be shown as it is. */
export const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= limits.nameCharsMax && /^[\x21-\x7e]+$/.test(value)

/** How many of something. */
export const isWhole = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** The end of the year 9999. Later times have no date that can be shown. */
const secondsMax = 253_402_300_800

/** Unix seconds. */
export const isSeconds = (value: unknown): value is number => isWhole(value) && value < secondsMax

/** A day of the calendar in UTC. */
export function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false
  const day = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value)
}

const lower =
  (parse: (text: unknown) => string | undefined): Form =>
  (value) =>
    value !== undefined && parse(value) === value

export const isAddress = lower(parseAddress)
export const isHash = lower(parseTxHash)
export const isNetwork: Form = (value) => Network.parseChainId(value as string) !== undefined
/** A whole number as a decimal string: it may exceed 2^53. */
export const isUnits: Form = (value) => parseBaseUnits(value) !== undefined

export const isOneOf =
  (...words: readonly string[]): Form =>
  (value) =>
    words.includes(value as string)
