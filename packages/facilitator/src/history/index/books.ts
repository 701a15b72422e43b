/** Questions to the index. Every question reads one snapshot, so that no payment is half old and half new. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type {
  HistoryBooks,
  HistoryFilter,
  HistoryPage,
  HistoryQuery,
  HistoryScope,
  HistoryTotals,
} from '../books.js'
import type { HistoryPayment } from '../payment.js'
import { readCursor, writeCursor } from './cursor.js'
import { paymentKeyIn, phaseToRead, takes } from './entry.js'
import { keys, type Order, type Place, placeIn, rangeOf, type SumKind, secondsOf, sumsRange } from './keys.js'
import type { Level } from './level.js'
import type { indexLimits } from './limits.js'
import { readIssue, readPayment } from './stored.js'
import { noTotals, plus, readTotals } from './sums.js'

type Snapshot = ReturnType<Level['snapshot']>
type Limits = typeof indexLimits

export function createBooks(level: Level, limits: Limits): HistoryBooks {
  return {
    find: async (nonce) => (await viewsOf(level, [nonce]))[0],
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
export async function viewsOf(
  level: Level,
  nonces: readonly ChallengeNonce[],
): Promise<readonly (HistoryPayment | undefined)[]> {
  const snapshot = level.snapshot()
  try {
    const issues = await level.getMany(nonces.map(keys.issue), { snapshot })
    const known = nonces.flatMap((nonce, i) => {
      const issue = issues[i]
      return issue ? [{ i, key: keys.payment(readIssue(issue), nonce) }] : []
    })
    const values = await level.getMany(
      known.map(({ key }) => key),
      { snapshot },
    )
    const views: (HistoryPayment | undefined)[] = nonces.map(() => undefined)
    for (const [at, { i }] of known.entries()) {
      const value = values[at]
      if (value) views[i] = readPayment(value)
    }
    return views
  } finally {
    await snapshot.close()
  }
}

/** The payments of entries that this same snapshot has. */
async function paymentsOf(
  level: Level,
  snapshot: Snapshot,
  order: Order,
  entries: readonly Buffer[],
): Promise<readonly HistoryPayment[]> {
  const wanted = entries.map((entry) => paymentKeyIn(order, entry))
  const values = await level.getMany(wanted, { snapshot })
  return values.flatMap((value) => (value ? [readPayment(value)] : []))
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
  const payments = await paymentsOf(level, snapshot, order, shown)
  return { payments, ...(end && { next: writeCursor(order, placeIn(order, end)) }) }
}

/** The snapshot is taken at once, and given back when the walk ends, also where it ends before it began. */
function allOf(level: Level, filter: HistoryFilter, limits: Limits): AsyncIterable<HistoryPayment> {
  const snapshot = level.snapshot()
  const walk = walkAll(level, snapshot, filter, limits)
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => walk.next(),
      async return() {
        await walk.return(undefined)
        await snapshot.close()
        return { done: true, value: undefined }
      },
    }),
  }
}

async function* walkAll(
  level: Level,
  snapshot: Snapshot,
  filter: HistoryFilter,
  limits: Limits,
): AsyncGenerator<HistoryPayment, undefined> {
  try {
    const order = 'time'
    const range = rangeOf({ scope: filter.scope, order, phase: phaseToRead(filter) }, filter)
    const walk = level.keys({ ...range, snapshot, highWaterMarkBytes: limits.stepBytesMax })
    try {
      for (;;) {
        const entries = await walk.nextv(limits.paymentsPerStep)
        if (entries.length === 0) return
        yield* await paymentsOf(level, snapshot, order, entries.filter(takes(order, filter)))
      }
    } finally {
      await walk.close()
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
    try {
      for (;;) {
        const values = await walk.nextv(limits.entriesPerStep)
        if (values.length === 0) return
        for (const value of values) totals = plus(totals, readTotals(value))
      }
    } finally {
      await walk.close()
    }
  }
  await read('second', since, firstHour)
  await read('hour', firstHour, lastHour)
  await read('second', lastHour, until)
  return totals
}
