/** Money spent and money reserved, as plain data, and how both change. */
import { createHash } from 'node:crypto'
import { Json } from '@svc-zerc20/protocol'

/**
 * Room for a payment. It counts as spent until it is certain that the money never will be. It is no permission: a
 * process that finds one judges it by its own policy.
 */
export type Reservation = {
  readonly pair: string
  readonly host: string
  /** Addresses of the host. What is spent at one of them counts for every name that leads there. */
  readonly addresses: readonly string[]
  /** The request that a caller made. Its price is remembered. */
  readonly route: string
  readonly amount: string
  readonly hour: number
  readonly way: 'permit' | 'self-transfer'
  readonly token: string
  readonly payTo: string
  readonly helper: string | undefined
  readonly payer: string
  readonly expiresAt: number
  readonly deadline: number | undefined
  /** Id of the present owner. Only the owner signs for this challenge. */
  readonly owner: string
  /** The hash over everything that may be signed. */
  readonly terms: string
  /** Of a transfer that was signed: the txNonce that it takes. */
  readonly txNonce?: number | undefined
  /** Another transfer with its txNonce was spent. It counts no more, and is kept until its record knows. */
  readonly isReplaced?: boolean
}

type Amounts = Readonly<Record<string, string>>

export type SpendState = {
  /** Network and token → spent since the beginning. */
  readonly totals: Amounts
  /** Network, token, and host or address → spent there since the beginning. */
  readonly hosts: Amounts
  /** Network, token and hour → spent in it. */
  readonly hours: Amounts
  readonly reservations: Readonly<Record<string, Reservation>>
  /** Hash of network, token and route → the price that later prices are compared with. */
  readonly prices: Amounts
}

export const emptyState: SpendState = { totals: {}, hosts: {}, hours: {}, reservations: {}, prices: {} }

/** Hours that count as a day: the current one, and the 24 before it. */
const hoursOfDay = 25
/** Hours of one network and token that are kept: by number and not by age, because a clock may jump and return. */
const hoursKept = 100
/** Routes whose price is remembered. The oldest is forgotten first. */
const pricesMax = 1_000

export const pairOf = (network: string, token: string) => `${network}/${token}`
export const hourOf = (nowMs: number) => Math.floor(nowMs / 3_600_000)

export type Used = {
  /** Spent and reserved together. */
  readonly total: bigint
  readonly host: bigint
  readonly day: bigint
  /** The part of the total that is only reserved. */
  readonly reserved: bigint
}

/** A host and its addresses. */
export type Place = Pick<Reservation, 'host' | 'addresses'>
const namesOf = ({ host, addresses }: Place) => [...new Set([host, ...addresses])]

/** The amounts that count against the caps of one network and token, and of one host by its name or an address. */
export function usedOf(state: SpendState, pair: string, place: Place, nowMs: number): Used {
  const open = Object.values(state.reservations).filter((each) => each.pair === pair && !each.isReplaced)
  const reserved = sum(open.map(({ amount }) => amount))
  const first = hourOf(nowMs) - hoursOfDay + 1
  const today = hoursOf(state, pair)
    .filter(([hour]) => hour >= first)
    .map(([, amount]) => amount)
  return {
    reserved,
    total: of(state.totals, pair) + reserved,
    host: namesOf(place)
      .map((name) => {
        const there = open.filter((each) => namesOf(each).includes(name))
        return of(state.hosts, `${pair} ${name}`) + sum(there.map(({ amount }) => amount))
      })
      .reduce(larger, 0n),
    day: sum(today) + sum(open.filter(({ hour }) => hour >= first).map((r) => r.amount)),
  }
}

/** Short, because all prices are read and written with every payment. */
const priceKey = (pair: string, route: string) =>
  createHash('sha256').update(`${pair} ${route}`).digest('base64url').slice(0, 22)

export const priceOf = (state: SpendState, pair: string, route: string): bigint | undefined => {
  const known = state.prices[priceKey(pair, route)]
  return known === undefined ? undefined : BigInt(known)
}

export const reservationOf = (state: SpendState, nonce: string): Reservation | undefined =>
  Object.hasOwn(state.reservations, nonce) ? state.reservations[nonce] : undefined

/**
 * The state with a reservation. Its hour never lies before one that was seen already: what is paid while a clock is set
 * back still counts for the day to which the clock returns.
 */
export function withReservation(state: SpendState, nonce: string, reservation: Reservation): SpendState {
  const { pair } = reservation
  const open = Object.values(state.reservations).filter((each) => each.pair === pair)
  const seen = [...hoursOf(state, pair).map(([hour]) => hour), ...open.map(({ hour }) => hour)]
  const hour = Math.max(reservation.hour, ...seen)
  return { ...state, reservations: { ...state.reservations, [nonce]: { ...reservation, hour } } }
}

/**
 * Further ahead than the longest-lived offer, no hour can be right: the clock was ahead when it was noted. No shop whose
 * clock is right is paid while ours is wrong by more.
 */
const hoursAheadMax = 31 * 24

/**
 * The state in which hours that a wrong clock noted far ahead are the present one. Otherwise a clock that was ahead once
 * would hold the cap of a day until that time comes.
 */
export function withoutFarHours(state: SpendState, nowMs: number): SpendState {
  const now = hourOf(nowMs)
  const isFar = (hour: number) => hour > now + hoursAheadMax
  const hourIn = (key: string) => Number(key.slice(key.lastIndexOf(' ') + 1))
  const reservations = Object.entries(state.reservations)
  if (
    !Object.keys(state.hours).some((key) => isFar(hourIn(key))) &&
    !reservations.some(([, { hour }]) => isFar(hour))
  ) {
    return state
  }
  const hours = Object.entries(state.hours).reduce<Amounts>((all, [key, amount]) => {
    const at = isFar(hourIn(key)) ? `${key.slice(0, key.lastIndexOf(' '))} ${now}` : key
    return add(all, at, amount)
  }, {})
  const moved = reservations.map(
    ([nonce, each]) => [nonce, isFar(each.hour) ? { ...each, hour: now } : each] as const,
  )
  return { ...state, hours, reservations: Object.fromEntries(moved) }
}

const hoursOf = ({ hours }: SpendState, pair: string): [number, string][] =>
  Object.entries(hours)
    .filter(([key]) => key.startsWith(`${pair} `))
    .map(([key, amount]) => [Number(key.slice(pair.length + 1)), amount])

/** The state without a reservation, of which nothing was spent. Unchanged where there is none. */
export function withoutReservation(state: SpendState, nonce: string): SpendState {
  if (!Object.hasOwn(state.reservations, nonce)) return state
  const { [nonce]: _, ...reservations } = state.reservations
  return { ...state, reservations }
}

/** The state in which it is known which txNonce a signed transfer takes. Unchanged where there is no reservation. */
export function withTxNonce(state: SpendState, nonce: string, txNonce: number): SpendState {
  const reservation = reservationOf(state, nonce)
  if (reservation === undefined || reservation.txNonce === txNonce) return state
  return { ...state, reservations: { ...state.reservations, [nonce]: { ...reservation, txNonce } } }
}

/**
 * Of two transfers with one txNonce only one can be mined, so the spent one takes the place of the others. A node's word that
 * a txNonce is used frees nothing, and no more is freed than was spent: the node may name the wrong one of two.
 */
const isReplacedBy =
  (spent: Reservation) =>
  ({ pair, payer, txNonce, amount }: Reservation): boolean =>
    txNonce !== undefined &&
    txNonce === spent.txNonce &&
    pair === spent.pair &&
    payer === spent.payer &&
    BigInt(amount) <= BigInt(spent.amount)

/** The state in which a reservation became a payment. Unchanged where there is none. */
export function withSpent(state: SpendState, nonce: string): SpendState {
  const reservation = reservationOf(state, nonce)
  if (reservation === undefined) return state
  const { pair, hour, amount } = reservation
  const dropped = hoursOf(state, pair)
    .map(([each]) => each)
    .sort((a, b) => b - a)
    .slice(hoursKept)
    .map((each) => `${pair} ${each}`)
  const hours = Object.entries(state.hours).filter(([key]) => !dropped.includes(key))
  const others = Object.entries(withoutReservation(state, nonce).reservations)
  const isReplaced = isReplacedBy(reservation)
  return {
    ...state,
    reservations: Object.fromEntries(
      others.map(([each, other]) => [each, isReplaced(other) ? { ...other, isReplaced: true } : other]),
    ),
    totals: add(state.totals, pair, amount),
    hosts: namesOf(reservation).reduce((hosts, name) => add(hosts, `${pair} ${name}`, amount), state.hosts),
    hours: add(Object.fromEntries(hours), `${pair} ${hour}`, amount),
  }
}

/**
 * A price is compared with the lowest one signed since a human last approved one. Many small rises are noticed
 * like one large rise. The signature counts and not the receipt, because a seller chooses whether to send one.
 */
export function withPrice(
  state: SpendState,
  { pair, route, amount }: Reservation,
  isApproved: boolean,
): SpendState {
  const key = priceKey(pair, route)
  const { [key]: before, ...others } = state.prices
  const isKept = before !== undefined && !isApproved && BigInt(before) < BigInt(amount)
  const entries = [...Object.entries(others), [key, isKept ? before : amount] as const]
  return { ...state, prices: Object.fromEntries(entries.slice(-pricesMax)) }
}

const larger = (a: bigint, b: bigint) => (a < b ? b : a)
const of = (amounts: Amounts, key: string) => BigInt(amounts[key] ?? '0')
const sum = (amounts: readonly string[]) => amounts.reduce((total, amount) => total + BigInt(amount), 0n)
const add = (amounts: Amounts, key: string, amount: string): Amounts => ({
  ...amounts,
  [key]: `${of(amounts, key) + BigInt(amount)}`,
})

/** Reads the state that a cell kept. An unreadable number must stop the payer, not count as zero. */
export function parseSpendState(raw: unknown): SpendState | undefined {
  if (!Json.isObject(raw)) return undefined
  const { totals, hosts, hours, prices, reservations } = raw
  if (![totals, hosts, hours, prices].every(isAmounts)) return undefined
  if (!Json.isObject(reservations) || !Object.values(reservations).every(isReservation)) return undefined
  return raw as SpendState
}

const isAmount = (value: unknown) => typeof value === 'string' && /^\d{1,90}$/.test(value)
const isAmounts = (value: unknown) => Json.isObject(value) && Object.values(value).every(isAmount)
const isReservation = (value: unknown) =>
  Json.isObject(value) &&
  isAmount(value.amount) &&
  [value.pair, value.host, value.route, value.token, value.payTo, value.payer, value.terms].every(
    (text) => typeof text === 'string',
  ) &&
  Array.isArray(value.addresses) &&
  Number.isSafeInteger(value.hour) &&
  Number.isSafeInteger(value.expiresAt) &&
  (value.txNonce === undefined || Number.isSafeInteger(value.txNonce)) &&
  ['permit', 'self-transfer'].includes(String(value.way))
