/**
 * The payment history, as participants ask for it: pages, one payment, totals, everything. Each question is answered from
 * indexes of the store.
 */
import { setImmediate as pause } from 'node:timers/promises'
import type { Address, BaseUnits, ChallengeNonce, UnixSeconds } from '@svc-zerc20/protocol'
import type { Sum } from '../payment/books.js'
import type { Payment } from '../payment/records.js'
import type { EventName } from '../store/events.js'
import { mintedOf } from '../store/leaves.js'
import { leavesIn } from '../store/rows/leaf-rows.js'
import { allOf, gathered, key, list, type Query, type Row, type Step, sql } from '../store/sql.js'
import type { Store } from '../store/store.js'
import { decode } from '../store/stored.js'
import { sumColumns, sumIn, unitsColumn } from '../store/units.js'
import { type HistoryPayment, type HistoryPhase, type HistoryTurn, kindOf, secondsPerDay } from './payment.js'

/** The owner of the payments. A question never leaves its scope, whatever its cursor says. */
export type HistoryScope =
  | { readonly kind: 'treasury'; readonly treasury: Address }
  | { readonly kind: 'payer'; readonly payer: Address }

export type HistoryFilter = {
  readonly scope: HistoryScope
  readonly phase?: HistoryPhase | undefined
  /** Bounds of `timeOf`: from `since` on, and before `until`. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Bounds of `amountOf`, both included. */
  readonly amountMin?: BaseUnits | undefined
  readonly amountMax?: BaseUnits | undefined
  /** A mint that `toldFinalityAt` puts at this second or later is passed over: the payment counts as accepted, or late. */
  readonly finalityBefore?: UnixSeconds | undefined
}

export type HistoryQuery = HistoryFilter & {
  /** The place behind which the page begins, from the page before. Anything else is refused. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A page may be short, and even empty, while more follow: the work for one page is bounded. */
export type HistoryPage = { readonly payments: readonly HistoryPayment[]; readonly next?: string }

export type HistoryTotals = {
  /** Burns that bought something, minted or not. Their fees are part of them. */
  readonly accepted: Sum
  readonly fees: Sum
  /** Burns that bought nothing. Beside an accepted burn only the difference counts. */
  readonly late: Sum
  /** Mints of both, by the time of their burns. */
  readonly finalized: Sum
}

export type HistoryBooks = {
  find(nonce: ChallengeNonce): Promise<HistoryPayment | undefined>
  /** Newest first. `bad_cursor` for a place that no page gave. */
  page(query: HistoryQuery): Promise<HistoryPage | 'bad_cursor'>
  /** Everything that the filter takes, as it was when the first was read, oldest first. Memory holds a few payments. */
  all(filter: HistoryFilter): AsyncIterable<HistoryPayment>
  totals(
    scope: HistoryScope,
    period: { readonly since: number; readonly until: number },
  ): Promise<HistoryTotals>
}

/** Rows that are read in one go from a list without an end: others wait meanwhile. */
const rowsAtOnce = 20
/** Rows that one page looks at. A filter that takes few of them gives a short page, and the next one goes on there. */
const examinedMax = 5_000
const examinedAtOnce = 250

/** The payments of these rows, with their mints and turns. */
function* historyPayments(rows: readonly Row[]): Step<readonly HistoryPayment[]> {
  if (rows.length === 0) return []
  const ids = list(rows.map(({ id }) => id))
  const leaves = yield sql`SELECT payment, place, record FROM leaf WHERE payment IN ${ids} ORDER BY place`
  const events = yield sql`SELECT payment, seq, at, kind FROM event WHERE payment IN ${ids} ORDER BY seq`
  const [leavesOf, eventsOf] = [byPayment(leaves), byPayment(events)]
  return rows.map(({ id, record }) => ({
    ...decode<Payment>(record),
    ...mintedOf(leavesIn(leavesOf.get(id) ?? [])),
    turns: (eventsOf.get(id) ?? []).flatMap(turnIn),
  }))
}

const byPayment = (rows: readonly Row[]) => gathered<number>(rows, ({ payment }) => payment)

function turnIn({ seq, at, kind }: Row): HistoryTurn[] {
  const told = kindOf[kind as EventName]
  return told ? [{ seq, at, kind: told }] : []
}

function* find(nonce: ChallengeNonce): Step<HistoryPayment | undefined> {
  const rows = yield sql`SELECT id, record FROM payment WHERE nonce = ${key(nonce)}`
  return (yield* historyPayments(rows))[0]
}

const scopeIs = (scope: HistoryScope): Query =>
  scope.kind === 'treasury' ? sql`treasury = ${key(scope.treasury)}` : sql`payer = ${key(scope.payer)}`

/** Whether the payment's own mint is told by now: that of the accepted burn, or of the late one where none was accepted. */
function isFinalized(before: number | undefined): Query {
  const isTold =
    before === undefined
      ? sql`minted_at IS NOT NULL`
      : sql`minted_at < ${before} AND burned_at < ${before - secondsPerDay}`
  return sql`EXISTS (SELECT 1 FROM leaf WHERE leaf.payment = payment.id AND (${isTold})
    AND place = CASE WHEN payment.stage = 'accepted' THEN 0 ELSE 1 END)`
}

function isPhase(phase: HistoryPhase, before: number | undefined): Query {
  const finalized = isFinalized(before)
  switch (phase) {
    case 'finalized':
      return finalized
    case 'accepted':
      return sql`stage = 'accepted' AND NOT ${finalized}`
    case 'late':
      return sql`stage <> 'accepted' AND late IS NOT NULL AND NOT ${finalized}`
    case 'challenged':
      return sql`stage <> 'accepted' AND late IS NULL`
  }
}

const timeWithin = ({ since, until }: HistoryFilter): Query =>
  allOf([
    since !== undefined && sql`listed_at >= ${Math.ceil(since)}`,
    until !== undefined && sql`listed_at < ${Math.ceil(until)}`,
  ])

const amountWithin = ({ amountMin, amountMax }: HistoryFilter): Query =>
  allOf([
    amountMin !== undefined && sql`listed_amount >= ${unitsColumn(amountMin)}`,
    amountMax !== undefined && sql`listed_amount <= ${unitsColumn(amountMax)}`,
  ])

/** A place in the order of time: its second, and the number of the payment. */
type Place = { readonly at: number; readonly id: number }

const writeCursor = ({ at, id }: Place): string => Buffer.from(JSON.stringify([at, id])).toString('base64url')

/** A cursor names a place and nothing else: a forged one gives another page of the same scope. */
function readCursor(text: string): Place | 'bad_cursor' {
  try {
    const [at, id] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    const isWhole = Number.isSafeInteger(at) && Number.isSafeInteger(id) && text === writeCursor({ at, id })
    return isWhole ? { at, id } : 'bad_cursor'
  } catch {
    return 'bad_cursor'
  }
}

/**
 * Looks at rows in order until the page is full, one more than it takes, so that the last page is known to be the last. Only
 * the bounds of time narrow the rows, because an index has them; every other filter is asked of each row. The
 * number of rows is bounded: a page may be short while more follow.
 */
function* page(query: HistoryQuery, after: Place | undefined): Step<HistoryPage> {
  const { limit, phase, finalityBefore } = query
  const isTaken = allOf([amountWithin(query), phase && isPhase(phase, finalityBefore)])
  const taken: Row[] = []
  let last: Row | undefined
  let left = examinedMax
  let from = after
  // The first look is short, because most filters take nearly every row.
  for (let atOnce = limit + 1; ; atOnce = examinedAtOnce) {
    const rows: readonly Row[] = yield sql`
      SELECT id, listed_at, (${isTaken}) AS taken FROM payment
      WHERE ${allOf([scopeIs(query.scope), timeWithin(query), from && sql`(listed_at, id) < (${from.at}, ${from.id})`])}
      ORDER BY listed_at DESC, id DESC LIMIT ${atOnce}`
    taken.push(...rows.filter((row) => row.taken))
    last = rows.length === atOnce ? rows.at(-1) : undefined
    from = last && { at: last.listed_at, id: last.id }
    left -= atOnce
    if (!last || left <= 0 || taken.length > limit) break
  }
  const shown = taken.slice(0, limit)
  const end = taken.length > limit ? shown.at(-1) : last
  const ids = shown.map(({ id }) => id)
  const rows = ids.length === 0 ? [] : yield sql`SELECT id, record FROM payment WHERE id IN ${list(ids)}`
  const recordOf = new Map(rows.map((row) => [row.id, row]))
  const payments = yield* historyPayments(ids.flatMap((id) => recordOf.get(id) ?? []))
  return { payments, ...(end && { next: writeCursor({ at: end.listed_at, id: end.id }) }) }
}

type Part = { readonly payments: readonly HistoryPayment[]; readonly next?: Place }

/** The next payments that the filter takes, oldest first, each as it is when it is read. */
function* part(filter: HistoryFilter, from: Place): Step<Part> {
  const rows = yield sql`
    SELECT id, listed_at, record FROM payment
    WHERE ${allOf([
      scopeIs(filter.scope),
      timeWithin(filter),
      amountWithin(filter),
      filter.phase && isPhase(filter.phase, filter.finalityBefore),
      sql`(listed_at, id) > (${from.at}, ${from.id})`,
    ])}
    ORDER BY listed_at, id LIMIT ${rowsAtOnce}`
  const payments = yield* historyPayments(rows)
  const last = rows.at(-1)
  return {
    payments,
    ...(last && rows.length === rowsAtOnce && { next: { at: last.listed_at, id: last.id } }),
  }
}

function* totals(
  scope: HistoryScope,
  { since, until }: { readonly since: number; readonly until: number },
): Step<HistoryTotals> {
  const [from, to] = [Math.max(0, Math.ceil(since)), Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(until))]
  const within = allOf([scopeIs(scope), sql`burned_at >= ${from} AND burned_at < ${to}`])
  const rows = yield sql`
    SELECT bought, count(part) AS parts, count(fee) AS fees, count(minted) AS mints,
      ${sumColumns('part', 'part')}, ${sumColumns('fee', 'fee')}, ${sumColumns('minted', 'minted')}
    FROM leaf WHERE ${within} GROUP BY bought`
  const [accepted, late] = [1, 0].map((bought) => rows.find((row) => row.bought === bought))
  const sum = (row: Row | undefined, count: string, name: string): Sum => ({
    payments: row?.[count] ?? 0,
    amount: sumIn(row, name),
  })
  const minted = [accepted, late].map((row) => sum(row, 'mints', 'minted'))
  return {
    accepted: sum(accepted, 'parts', 'part'),
    fees: sum(accepted, 'fees', 'fee'),
    late: sum(late, 'parts', 'part'),
    finalized: {
      payments: minted.reduce((all, { payments }) => all + payments, 0),
      amount: minted.reduce((all, { amount }) => all + amount, 0n),
    },
  }
}

export function createStoreHistory({ ask }: Pick<Store, 'ask'>): HistoryBooks {
  return {
    find: (nonce) => ask(find(nonce)),
    async page(query) {
      const after = query.after === undefined ? undefined : readCursor(query.after)
      return after === 'bad_cursor' ? after : ask(page(query, after))
    },
    async *all(filter) {
      for (let from: Place | undefined = { at: -1, id: 0 }; from; ) {
        const { payments, next }: Part = await ask(part(filter, from))
        yield* payments
        from = next
        // Others come in between, and the engine lets go of the rows that were read.
        await pause()
      }
    },
    totals: (scope, period) => ask(totals(scope, period)),
  }
}
