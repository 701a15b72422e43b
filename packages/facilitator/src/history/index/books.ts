/** Questions to the index. Every question reads one snapshot, so that no payment is half old and half new. */
import { type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import type {
  HistoryBooks,
  HistoryFilter,
  HistoryPage,
  HistoryQuery,
  HistoryScope,
  HistoryTotals,
} from '../books.js'
import type { KnownPayments } from '../change.js'
import type { HistoryPayment } from '../payment.js'
import { readCursor, writeCursor } from './cursor.js'
import { paymentKeyIn, phaseToRead, takes } from './entry.js'
import { keys, type Place, placeIn, rangeOf, type SumKind, secondsOf, sumsRange } from './keys.js'
import { type Level, stepsOf } from './level.js'
import type { indexLimits } from './limits.js'
import { readIssue, readPayment } from './stored.js'
import { noTotals, plus, readTotals } from './sums.js'

type Snapshot = ReturnType<Level['snapshot']>
type Limits = typeof indexLimits

export function createBooks(level: Level, limits: Limits): HistoryBooks {
  return {
    find: async (nonce) => (await paymentsOf(level, [nonce])).get(nonce),
    async page(query) {
      const after = query.after === undefined ? undefined : readCursor(query.order, query.after)
      if (after === 'bad_cursor') return after
      return withSnapshot(level, (snapshot) => pageOf(level, snapshot, { ...query, place: after }, limits))
    },
    all: (filter) => allOf(level, filter, limits),
    totals: (scope, period) =>
      withSnapshot(level, (snapshot) => totalsOf(level, snapshot, scope, period, limits)),
  }
}

async function withSnapshot<T>(level: Level, read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const snapshot = level.snapshot()
  try {
    return await read(snapshot)
  } finally {
    await snapshot.close()
  }
}

/** The payments of these nonces, each as it is now: a payment keeps its time of issue. */
export const paymentsOf = (level: Level, nonces: readonly ChallengeNonce[]): Promise<KnownPayments> =>
  withSnapshot(level, async (snapshot) => {
    const distinct = [...new Set(nonces)]
    const issues = await level.getMany(distinct.map(keys.issue), { snapshot })
    const known = distinct.flatMap((nonce, i) => {
      const issue = issues[i]
      return issue ? [keys.payment(readIssue(issue), nonce)] : []
    })
    const payments = await paymentsAt(level, snapshot, known)
    return new Map(payments.map((payment) => [payment.challenge.nonce, payment]))
  })

/** The payments at these keys. Every key that comes from this same snapshot has one. */
async function paymentsAt(
  level: Level,
  snapshot: Snapshot,
  paymentKeys: readonly Buffer[],
): Promise<readonly HistoryPayment[]> {
  const values = await level.getMany([...paymentKeys], { snapshot })
  return values.map(found)
}

/** A payment that another key speaks of. A payment that is passed over would be missing in the books, or recorded again. */
function found(value: Buffer | undefined): HistoryPayment {
  if (value) return readPayment(value)
  throw new SvcError('history_corrupt', 'the index of the payment history lacks a payment that it lists')
}

/** Looks for one more than the page takes, so that the last page is known to be the last. */
async function pageOf(
  level: Level,
  snapshot: Snapshot,
  query: HistoryQuery & { readonly place: Place | undefined },
  limits: Limits,
): Promise<HistoryPage> {
  const { scope, order, limit } = query
  const range = rangeOf({ scope, order, phase: phaseToRead(query) }, query, query.place)
  const isTaken = takes(order, query)
  const walk = level.keys({ ...range, reverse: true, snapshot, highWaterMarkBytes: limits.stepBytesMax })
  const taken: Buffer[] = []
  let last: Buffer | undefined
  let left = limits.examinedPerPageMax
  let step = Math.min(limit + 1, limits.entriesPerStep)
  try {
    while (left > 0 && taken.length <= limit) {
      const entries = await walk.nextv(Math.min(left, step))
      if (entries.length === 0) {
        last = undefined
        break
      }
      left -= entries.length
      last = entries.at(-1)
      for (const entry of entries) if (isTaken(entry)) taken.push(entry)
      step = limits.entriesPerStep
    }
  } finally {
    await walk.close()
  }
  const shown = taken.slice(0, limit)
  const end = taken.length > limit ? shown.at(-1) : last
  const wanted = shown.map((entry) => paymentKeyIn(order, entry))
  const payments: HistoryPayment[] = []
  for (let at = 0; at < wanted.length; at += limits.paymentsPerStep) {
    payments.push(...(await paymentsAt(level, snapshot, wanted.slice(at, at + limits.paymentsPerStep))))
  }
  return { payments, ...(end && { next: writeCursor(order, placeIn(order, end)) }) }
}

/** The snapshot is taken when the first payment is asked for: whoever never asks leaves none open. */
async function* allOf(level: Level, filter: HistoryFilter, limits: Limits): AsyncGenerator<HistoryPayment> {
  const order = 'time'
  const isTaken = takes(order, filter)
  const range = rangeOf({ scope: filter.scope, order, phase: phaseToRead(filter) }, filter)
  const snapshot = level.snapshot()
  try {
    const walk = level.keys({ ...range, snapshot, highWaterMarkBytes: limits.stepBytesMax })
    for await (const entries of stepsOf(walk, limits.paymentsPerStep)) {
      const wanted = entries.filter(isTaken).map((entry) => paymentKeyIn(order, entry))
      yield* await paymentsAt(level, snapshot, wanted)
    }
  } finally {
    await snapshot.close()
  }
}

/** Whole hours from the sums of hours, and what is left at both edges from the sums of seconds. */
async function totalsOf(
  level: Level,
  snapshot: Snapshot,
  scope: HistoryScope,
  period: { readonly since: number; readonly until: number },
  limits: Limits,
): Promise<HistoryTotals> {
  const since = Math.max(0, Math.ceil(period.since))
  const until = Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(period.until))
  const hour = secondsOf.hour
  const firstHour = Math.min(until, Math.ceil(since / hour) * hour)
  const lastHour = Math.max(firstHour, Math.floor(until / hour) * hour)
  let totals = noTotals
  const read = async (kind: SumKind, from: number, to: number) => {
    if (from >= to) return
    const walk = level.values({
      ...sumsRange(scope, kind, from, to),
      snapshot,
      highWaterMarkBytes: limits.stepBytesMax,
    })
    for await (const values of stepsOf(walk, limits.entriesPerStep)) {
      for (const value of values) totals = plus(totals, readTotals(value))
    }
  }
  await read('second', since, firstHour)
  await read('hour', firstHour, lastHour)
  await read('second', lastHour, until)
  return totals
}
