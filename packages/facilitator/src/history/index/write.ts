/** The write of some changed payments: the payments, their entries in every list, and the sums of their times. */
import type { HistoryScope, HistoryTotals } from '../books.js'
import type { HistoryChange } from '../change.js'
import type { HistoryPayment } from '../payment.js'
import { entriesOf, scopesOf } from './entry.js'
import { keys, type SumKind, secondsOf } from './keys.js'
import { del, type Level, nothing, type Operation, put } from './level.js'
import { writeIssue, writePayment } from './stored.js'
import { isNothing, minus, noTotals, partsOf, plus, readTotals, writeTotals } from './sums.js'

/** The operations are in the order of the changes: of two changes of one payment the later one counts. */
export async function writeOf(
  level: Level,
  changes: readonly HistoryChange[],
): Promise<readonly Operation[]> {
  const operations: Operation[] = []
  const sums = createSumChanges()
  for (const { before, after } of changes) {
    operations.push(...paymentChanges(before, after), ...entryChanges(before, after))
    if (before) sums.note(before, minus)
    sums.note(after, plus)
  }
  return [...operations, ...(await sums.operations(level))]
}

const nameOf = (key: Buffer): string => key.toString('latin1')

function* paymentChanges(before: HistoryPayment | undefined, after: HistoryPayment): Iterable<Operation> {
  const { nonce, issuedAt } = after.challenge
  if (before?.challenge.issuedAt !== issuedAt) {
    yield put(keys.issue(nonce), writeIssue(issuedAt))
    if (before) yield del(keys.payment(before.challenge.issuedAt, nonce))
  }
  yield put(keys.payment(issuedAt, nonce), writePayment(after))
}

/** Only what differs is written. A key that the payment no longer has goes. */
function entryChanges(before: HistoryPayment | undefined, after: HistoryPayment): readonly Operation[] {
  const known = new Map((before ? entriesOf(before) : []).map((entry) => [nameOf(entry), entry]))
  const added = entriesOf(after).filter((entry) => !known.delete(nameOf(entry)))
  return [...[...known.values()].map(del), ...added.map((entry) => put(entry, nothing))]
}

type Difference = { readonly key: Buffer; totals: HistoryTotals }

/** Differences of sums, gathered so that a sum is read and written once for all payments of the write. */
function createSumChanges() {
  const differences = new Map<string, Difference>()

  function add(key: Buffer, totals: HistoryTotals, combine: typeof plus): void {
    const known = differences.get(nameOf(key))
    if (known) known.totals = combine(known.totals, totals)
    else differences.set(nameOf(key), { key, totals: combine(noTotals, totals) })
  }

  return {
    note(payment: HistoryPayment, combine: typeof plus): void {
      for (const scope of scopesOf(payment)) {
        for (const { at, totals } of partsOf(payment, scope)) {
          for (const kind of ['second', 'hour'] as const) add(sumKey(scope, kind, at), totals, combine)
        }
      }
    },
    async operations(level: Level): Promise<readonly Operation[]> {
      const changed = [...differences.values()].filter(({ totals }) => !isNothing(totals))
      const known = await level.getMany(changed.map(({ key }) => key))
      return changed.map(({ key, totals }, i) => {
        const value = known[i]
        const sum = value ? plus(readTotals(value), totals) : totals
        return isNothing(sum) ? del(key) : put(key, writeTotals(sum))
      })
    },
  }
}

const sumKey = (scope: HistoryScope, kind: SumKind, at: number): Buffer =>
  keys.sums(scope, kind, at - (at % secondsOf[kind]))
