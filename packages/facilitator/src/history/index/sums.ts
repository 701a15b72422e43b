/** Sums of payments by second and by hour, so that the totals of any period are a bounded number of reads. */
import { SvcError } from '@svc-zerc20/protocol'
import type { Finalized } from '../../payment/records.js'
import type { HistoryScope, HistoryTotals, Sum } from '../books.js'
import { type HistoryPayment, mintsOf } from '../payment.js'
import { amountAt, amountKey } from './keys.js'

const nothing: Sum = { payments: 0, amount: 0n }
export const noTotals: HistoryTotals = { accepted: nothing, fees: nothing, late: nothing, finalized: nothing }

const names = ['accepted', 'fees', 'late', 'finalized'] as const

const one = (amount: bigint | undefined): Sum => (amount === undefined ? nothing : { payments: 1, amount })

const sumOf = (mints: readonly Finalized[]): Sum => ({
  payments: mints.length,
  amount: mints.reduce((sum, { mint }) => sum + mint.value, 0n),
})

/** What a payment adds to the totals of a scope, and when. A late burn beside an accepted one has a time of its own. */
export function partsOf(
  payment: HistoryPayment,
  scope: HistoryScope,
): readonly { readonly at: number; readonly totals: HistoryTotals }[] {
  const { challenge, accepted, late, finalized } = payment
  const parts: { at: number; totals: HistoryTotals }[] = []
  if (accepted) {
    const totals = { accepted: one(accepted.burn.value), fees: one(challenge.fee?.amount), late: nothing }
    parts.push({ at: accepted.at, totals: { ...totals, finalized: one(finalized?.mint.value) } })
  }
  // Whoever pays an address a second time may be somebody else, whose money is no payment of this payer.
  const isForeign = scope.kind === 'payer' && late?.burn.from !== scope.payer
  if (late && !isForeign) {
    const beside = accepted?.burn.value ?? 0n
    const amount = late.burn.value > beside ? late.burn.value - beside : 0n
    const minted = sumOf(mintsOf(payment).filter((mint) => !(accepted && mint === finalized)))
    parts.push({ at: late.at, totals: { ...noTotals, late: one(amount), finalized: minted } })
  }
  return parts
}

const combined = (a: HistoryTotals, b: HistoryTotals, sign: 1 | -1): HistoryTotals => {
  const sum = (name: (typeof names)[number]): Sum => ({
    payments: a[name].payments + sign * b[name].payments,
    amount: a[name].amount + BigInt(sign) * b[name].amount,
  })
  return { accepted: sum('accepted'), fees: sum('fees'), late: sum('late'), finalized: sum('finalized') }
}
export const plus = (a: HistoryTotals, b: HistoryTotals): HistoryTotals => combined(a, b, 1)
export const minus = (a: HistoryTotals, b: HistoryTotals): HistoryTotals => combined(a, b, -1)

export const isNothing = (totals: HistoryTotals): boolean =>
  names.every((name) => totals[name].payments === 0 && totals[name].amount === 0n)

const countBytes = 6

/** Throws `SvcError('history_corrupt')` for a sum below zero: then the index lacked a payment that it should have had. */
export function writeTotals(totals: HistoryTotals): Buffer {
  return Buffer.concat(
    names.flatMap((name) => {
      const { payments, amount } = totals[name]
      if (payments < 0 || amount < 0n) {
        throw new SvcError('history_corrupt', 'the index of the payment history does not fit its files')
      }
      const count = Buffer.alloc(countBytes)
      count.writeUIntBE(payments, 0, countBytes)
      return [count, amountKey(amount)]
    }),
  )
}

/** Throws `SvcError('history_corrupt')` when the bytes are not what was written. */
export function readTotals(value: Buffer): HistoryTotals {
  try {
    return parseTotals(value)
  } catch (cause) {
    throw new SvcError('history_corrupt', 'a sum in the index of the payment history is damaged', { cause })
  }
}

function parseTotals(value: Buffer): HistoryTotals {
  let at = 0
  const next = (): Sum => {
    const payments = value.readUIntBE(at, countBytes)
    const { amount, end } = amountAt(value, at + countBytes)
    at = end
    return { payments, amount }
  }
  return { accepted: next(), fees: next(), late: next(), finalized: next() }
}
