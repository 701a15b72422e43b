/** Amounts, times and names as people read them. What is exact is on hover. */
import { type CsvCell, csvLine } from '@svc-zerc20/protocol'
import { el } from './dom.js'
import { nowMs } from './system-clock.js'

export type Token = { readonly symbol: string; readonly decimals: number }

/** Fraction digits that a list shows. */
const fractionMax = 8
/** As wide as a digit, and as a point. */
const [figureSpace, pointSpace] = ['\u2007', '\u2008']

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const point = (1.5).toLocaleString().replace(/\p{Nd}/gu, '') || '.'

export const inNumber = (value: number | bigint): string => whole.format(value)

/** A decimal number of base units. In a column, space stands for the digits that are missing. */
export function inUnits(units: string | bigint, decimals: number, isInColumn = false): string {
  const value = BigInt(units)
  const scale = 10n ** BigInt(decimals)
  const digits = (value % scale).toString().padStart(decimals, '0').slice(0, fractionMax).replace(/0+$/, '')
  const missing = isInColumn ? figureSpace.repeat(Math.min(decimals, fractionMax) - digits.length) : ''
  const separator = digits ? point : missing && pointSpace
  return `${whole.format(value / scale)}${separator}${digits}${missing}`
}

/** Digits that a figure shows at a glance, but at least two behind the point. Of gas fewer are enough. */
const [glanceDigits, gasDigits, glanceFraction] = [6, 3, 2]

/** A decimal number of base units, rounded to what a glance takes in. */
export function inShort(units: string | bigint, decimals: number, digits = glanceDigits): string {
  const value = BigInt(units)
  const kept = Math.max(glanceFraction, digits - `${value}`.length + decimals)
  const cut = 10n ** BigInt(Math.max(0, decimals - kept))
  return inUnits(((value + cut / 2n) / cut) * cut, decimals)
}

/** An amount at a glance, and the base units on hover. */
export const figure = (units: string | bigint, token: Token | undefined): HTMLElement =>
  token ? labelled(units, inShort(units, token.decimals), token.symbol) : amount(units, token)

/** An amount with its unit, and the base units on hover. */
export function amount(units: string | bigint, token: Token | undefined): HTMLElement {
  const [text, unit] = token
    ? [inUnits(units, token.decimals), token.symbol]
    : [inNumber(BigInt(units)), 'base units']
  return labelled(units, text, unit)
}

const labelled = (units: string | bigint, text: string, unit: string): HTMLElement =>
  el('span', { class: 'amount', title: `${units} base units` }, text, ' ', el('small', {}, unit))

/** An amount in a column: digits stand below digits. */
export const column = (units: string | bigint, token: Token | undefined): HTMLElement =>
  el(
    'span',
    { class: 'amount', title: `${units} base units` },
    token ? inUnits(units, token.decimals, true) : inNumber(BigInt(units)),
  )

export const inEther = (wei: string | bigint): string => `${inShort(wei, 18, gasDigits)} ETH`

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const inYear = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
})

export const utcOf = (at: number): string =>
  `${new Date(at * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** A moment in the reader's zone, with UTC on hover. The current year goes without saying. */
export function when(at: number): HTMLElement {
  const date = new Date(at * 1000)
  const isThisYear = date.getFullYear() === new Date(nowMs()).getFullYear()
  const text = (isThisYear ? inYear : dateTime).format(date)
  return el('time', { datetime: date.toISOString(), title: utcOf(at) }, text)
}

export const dayName = (at: number): string =>
  new Date(at * 1000).toLocaleDateString(undefined, { weekday: 'short', day: 'numeric', month: 'short' })

export const shortDay = (at: number): string =>
  new Date(at * 1000).toLocaleDateString(undefined, { day: 'numeric', month: 'short' })

export const shortHour = (at: number): string =>
  new Date(at * 1000).toLocaleTimeString(undefined, { hour: 'numeric' })

export const hourName = (at: number): string =>
  new Date(at * 1000).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })

/** The second at which the reader's day began. */
export function dayStart(at: number): number {
  const date = new Date(at * 1000)
  return Math.floor(new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime() / 1000)
}

const spans: readonly [number, string][] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
]

/** A length of time in one or two units. */
export function span(seconds: number): string {
  const at = spans.findIndex(([size]) => seconds >= size)
  const [size, name] = spans[at] ?? [1, 's']
  const [smaller, smallerName] = spans[at + 1] ?? [1, 's']
  const rest = at < 0 || smaller === 1 ? 0 : Math.floor((seconds % size) / smaller)
  const first = `${inNumber(Math.floor(seconds / size))} ${name}`
  return rest > 0 ? `${first} ${rest} ${smallerName}` : first
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${inNumber(count)} ${count === 1 ? one : many}`

/** A phrase as a sentence. */
export const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}. `

/** A place where there is nothing. A narrow page leaves it out. */
export const nothing = (): HTMLElement => el('span', { class: 'nothing' }, '–')

/** A hash or an address, shortened, whole on hover. */
export const hash = (hex: string | undefined): HTMLElement =>
  hex === undefined
    ? nothing()
    : el('code', { title: hex }, hex.length > 14 ? `${hex.slice(0, 8)}…${hex.slice(-4)}` : hex)

export const csv = (head: readonly string[], rows: readonly (readonly CsvCell[])[]): string =>
  [head, ...rows].map(csvLine).join('')

/** Hands the reader a file. */
export function download(name: string, type: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
