/** The keys of the index: big-endian, so that the order of keys is the order of numbers. */
import type { Address, BaseUnits, ChallengeNonce } from '@svc-zerc20/protocol'
import type { HistoryQuery, HistoryScope } from '../books.js'
import type { HistoryPhase } from '../payment.js'

export type Order = HistoryQuery['order']

/** Where a payment stands in an order: its time or its amount, and its nonce. */
export type Place = Buffer

const nonceBytes = 32
const addressBytes = 20
const amountBytesMax = 32
export const timeBytes = 6
const timeMax = 2 ** (8 * timeBytes) - 1

const hex = (text: string): Buffer => Buffer.from(text.slice(2), 'hex')

/** Times outside of what a key can hold become the nearest one that it can. */
export function timeKey(time: number): Buffer {
  const bytes = Buffer.alloc(timeBytes)
  bytes.writeUIntBE(Math.min(timeMax, Math.max(0, Math.ceil(time))), 0, timeBytes)
  return bytes
}

/** The count of its bytes comes first, so that a longer number is a larger key. */
export function amountKey(amount: bigint): Buffer {
  if (amount === 0n) return Buffer.of(0)
  const digits = amount.toString(16)
  const bytes = Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
  return Buffer.concat([Buffer.of(bytes.length), bytes])
}

/** The amount at this place, and the place behind it. */
export function amountAt(bytes: Buffer, at: number): { readonly amount: bigint; readonly end: number } {
  const end = at + 1 + bytes.readUInt8(at)
  const digits = bytes.toString('hex', at + 1, end)
  return { amount: digits === '' ? 0n : BigInt(`0x${digits}`), end }
}

const key = (kind: string, ...parts: Buffer[]): Buffer => Buffer.concat([Buffer.from(kind), ...parts])

const scopeKinds = { treasury: 1, payer: 2 } as const
const phaseBytes = { challenged: 1, accepted: 2, finalized: 3, late: 4 } as const
const allPhases = 0
const orderKinds = { time: 't', amount: 'a' } as const
const sumKinds = { second: 's', hour: 'h' } as const
export type SumKind = keyof typeof sumKinds
export const secondsOf: Readonly<Record<SumKind, number>> = { second: 1, hour: 3_600 }

const addressOf = (scope: HistoryScope): Address => (scope.kind === 'treasury' ? scope.treasury : scope.payer)
const scopeKey = (scope: HistoryScope): Buffer =>
  Buffer.concat([Buffer.of(scopeKinds[scope.kind]), hex(addressOf(scope).toLowerCase())])

/** The payments of a scope in one order: all of them, or those of one phase. */
export type List = {
  readonly scope: HistoryScope
  readonly order: Order
  readonly phase?: HistoryPhase | undefined
}

const listKey = ({ scope, order, phase }: List): Buffer =>
  key(orderKinds[order], scopeKey(scope), Buffer.of(phase ? phaseBytes[phase] : allPhases))

export const placeOf = {
  time: (time: number, nonce: ChallengeNonce): Place => Buffer.concat([timeKey(time), hex(nonce)]),
  amount: (amount: BaseUnits, nonce: ChallengeNonce): Place => Buffer.concat([amountKey(amount), hex(nonce)]),
}

export const keys = {
  state: key('!'),
  /** One of the last writes, by its number. */
  write: (number: number) => key('w', timeKey(number)),
  /** The payments in the order of their issue: what is asked for together lies together. */
  payment: (issuedAt: number, nonce: ChallengeNonce) => key('p', timeKey(issuedAt), hex(nonce)),
  /** The time of issue of a payment, which finds it. */
  issue: (nonce: ChallengeNonce) => key('n', hex(nonce)),
  /** The facts that filters look at stand behind the place. An entry has no value. */
  entry: (list: List, place: Place, facts: Buffer) => Buffer.concat([listKey(list), place, facts]),
  /** The sums of one second, or of one hour, that begins at this time. */
  sums: (scope: HistoryScope, kind: SumKind, begin: number) =>
    key(sumKinds[kind], scopeKey(scope), timeKey(begin)),
} as const

export type Range = { readonly gte: Buffer; readonly lt: Buffer }

/** Behind every key that begins like this: no place begins with such a byte. */
const behind = (prefix: Buffer): Buffer => Buffer.concat([prefix, Buffer.of(0xff)])
const behindNonces = Buffer.alloc(nonceBytes + 1, 0xff)

export type Bounds = {
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly amountMin?: bigint | undefined
  readonly amountMax?: bigint | undefined
}

/** The part of a list that lies within the bounds of its order, and before a place. Never a key of another list. */
export function rangeOf(list: List, bounds: Bounds, before?: Place): Range {
  const prefix = listKey(list)
  const at = (...parts: Buffer[]) => Buffer.concat([prefix, ...parts])
  const { since, until, amountMin, amountMax } = bounds
  const ends = [behind(prefix)]
  let gte = prefix
  if (list.order === 'time') {
    if (since !== undefined) gte = at(timeKey(since))
    if (until !== undefined) ends.push(at(timeKey(until)))
  } else {
    if (amountMin !== undefined) gte = at(amountKey(amountMin))
    if (amountMax !== undefined) ends.push(at(amountKey(amountMax), behindNonces))
  }
  if (before) ends.push(at(before))
  return { gte, lt: ends.reduce((a, b) => (Buffer.compare(a, b) <= 0 ? a : b)) }
}

/** The sums of a scope that begin within a time. */
export const sumsRange = (scope: HistoryScope, kind: SumKind, since: number, until: number): Range => ({
  gte: keys.sums(scope, kind, since),
  lt: keys.sums(scope, kind, until),
})

const placeAt = key('t').length + 1 + addressBytes + 1

/** Where the facts begin in the key of an entry. */
export const factsAt = (order: Order, entry: Buffer): number =>
  placeAt + (order === 'time' ? timeBytes : 1 + (entry[placeAt] ?? 0)) + nonceBytes

export const placeIn = (order: Order, entry: Buffer): Place => entry.subarray(placeAt, factsAt(order, entry))
export const nonceIn = (order: Order, entry: Buffer): ChallengeNonce => {
  const end = factsAt(order, entry)
  return `0x${entry.toString('hex', end - nonceBytes, end)}` as ChallengeNonce
}

/** The bytes have the form of a place in this order. */
export function isPlace(order: Order, bytes: Buffer): boolean {
  if (order === 'time') return bytes.length === timeBytes + nonceBytes
  const count = bytes.length - 1 - nonceBytes
  return count >= 0 && count <= amountBytesMax && bytes[0] === count && (count === 0 || bytes[1] !== 0)
}
