/** The history's books in memory. They scan, which is fine for the few payments of a test. */

import type { HistoryBooks, HistoryFilter, HistoryTotals } from '../src/history/answers.js'
import { type HistoryPayment, phaseOf, toldFinalityAt } from '../src/history/payment.js'
import type { Sum } from '../src/payment/books.js'
import { amountOf, payerOf, timeOf } from '../src/payment/records.js'

export function createMemoryHistory(payments: HistoryPayment[]) {
  /** How many walks through everything were begun and ended, and how many payments they gave. */
  const walks = { begun: 0, ended: 0, given: 0 }
  const taken = (filter: HistoryFilter) => payments.filter((payment) => isTaken(filter, payment))

  const books: HistoryBooks = {
    find: async (nonce) => payments.find(({ challenge }) => challenge.nonce === nonce),

    async page({ after, limit, ...filter }) {
      const keyOf = (payment: HistoryPayment) =>
        `${String(timeOf(payment)).padStart(12, '0')}.${payment.challenge.nonce}`
      if (after !== undefined && !/^\d{12}\./.test(after)) return 'bad_cursor'
      const rest = taken(filter)
        .map((payment) => ({ payment, key: keyOf(payment) }))
        .filter(({ key }) => after === undefined || key < after)
        .sort((a, b) => (a.key < b.key ? 1 : -1))
      const page = rest.slice(0, limit)
      const last = page.at(-1)
      return {
        payments: page.map(({ payment }) => payment),
        ...(last && rest.length > limit && { next: last.key }),
      }
    },

    async *all(filter) {
      walks.begun += 1
      try {
        for (const payment of taken(filter).sort((a, b) => timeOf(a) - timeOf(b))) {
          walks.given += 1
          yield payment
        }
      } finally {
        walks.ended += 1
      }
    },

    async totals(scope, { since, until }) {
      const totals = { accepted: nothing(), fees: nothing(), late: nothing(), finalized: nothing() }
      for (const payment of taken({ scope, since, until })) addTo(totals, payment)
      return totals
    },
  }
  return { books, payments, walks }
}

function isTaken(filter: HistoryFilter, payment: HistoryPayment): boolean {
  const { scope, phase, since = 0, until = Infinity, amountMin, amountMax, finalityBefore } = filter
  const isIn =
    scope.kind === 'payer' ? payerOf(payment) === scope.payer : payment.challenge.treasury === scope.treasury
  const { finalized, ...unfinalized } = payment
  const isTold =
    finalized &&
    (finalityBefore === undefined || toldFinalityAt(timeOf(payment), finalized.at) < finalityBefore)
  const at = timeOf(payment)
  const amount = amountOf(payment)
  return (
    isIn &&
    (phase === undefined || phaseOf(isTold ? payment : unfinalized) === phase) &&
    at >= since &&
    at < until &&
    (amountMin === undefined || amount >= amountMin) &&
    (amountMax === undefined || amount <= amountMax)
  )
}

type Summing = { -readonly [K in keyof Sum]: Sum[K] }

const nothing = (): Summing => ({ payments: 0, amount: 0n })

function add(sum: Summing, amount: bigint): void {
  sum.payments += 1
  sum.amount += amount
}

function addTo(
  { accepted, fees, late, finalized }: Record<keyof HistoryTotals, Summing>,
  payment: HistoryPayment,
): void {
  const paid = payment.accepted?.burn.value
  if (paid !== undefined) add(accepted, paid)
  if (paid !== undefined && payment.challenge.fee) add(fees, payment.challenge.fee.amount)
  if (payment.late) add(late, payment.late.burn.value - (paid ?? 0n))
  for (const each of [payment.finalized, payment.lateMinted]) if (each) add(finalized, each.mint.value)
}
