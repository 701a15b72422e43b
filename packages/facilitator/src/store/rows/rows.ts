/**
 * Rows of payments as the one writer left them: a payment is read and parsed once for all its steps. Only the writer may
 * remember rows, and it forgets them when a transaction is taken back.
 */
import { type ChallengeNonce, createBoundedMap } from '@svc-zerc20/protocol'
import type { Payment } from '../../payment/records.js'
import { type Leaves, noLeaves } from '../leaves.js'
import { first, hexOf, type Row, type Step, sql } from '../sql.js'
import { decode } from '../stored.js'
import { unitsColumn } from '../units.js'
import { type LeafRows, leafRowsIn, loadLeaves, saveLeaves } from './leaf-rows.js'
import { insertPayment, loadPayment, type PaymentRow, paymentIn, updatePayment } from './payment-rows.js'

export type Rows = {
  payment(nonce: ChallengeNonce): Step<PaymentRow | undefined>
  insert(payment: Payment): Step<number>
  update(row: PaymentRow, payment: Payment): Step<void>
  leaves(nonce: ChallengeNonce): Step<LeafRows>
  saveLeaves(nonce: ChallengeNonce, payment: number, before: Leaves, after: Leaves): Step<void>
  /** Adds to the fees of accepted payments. */
  addFee(amount: bigint): Step<void>
  /** The time of doubt, if the ledger went on with an older copy. */
  doubt(): Step<Doubt | undefined>
  /** Remembers the payments with these nonces as they stand in rows that were read before. */
  preload(nonces: readonly ChallengeNonce[], payments: readonly Row[], leaves: readonly Row[]): void
  forgetAll(): void
}

/** The time of doubt: payments up to this number, and burns up to this block. */
export type Doubt = { readonly payment: number; readonly block: number }
export const doubtSetting = 'doubt'

const rowsMax = 5_000

export function createRows(): Rows {
  let payments = createBoundedMap<ChallengeNonce, PaymentRow>(rowsMax)
  let fees: bigint | undefined
  let doubt: Doubt | 'none' | undefined
  let leaves = createBoundedMap<ChallengeNonce, LeafRows>(rowsMax)
  const remember = (row: PaymentRow) => void payments.set(row.payment.challenge.nonce, row)
  return {
    *payment(nonce) {
      const known = payments.get(nonce)
      if (known) return known
      const row = yield* loadPayment(nonce)
      if (row) remember(row)
      return row
    },
    *insert(payment) {
      const id = yield* insertPayment(payment)
      remember({ id, payment })
      leaves.set(payment.challenge.nonce, { leaves: noLeaves })
      return id
    },
    *update(row, payment) {
      yield* updatePayment(row, payment)
      remember({ id: row.id, payment })
    },
    *leaves(nonce) {
      const known = leaves.get(nonce)
      if (known) return known
      const rows = yield* loadLeaves(nonce)
      leaves.set(nonce, rows)
      return rows
    },
    *saveLeaves(nonce, payment, before, after) {
      yield* saveLeaves(payment, before, after)
      leaves.set(nonce, { payment, leaves: after })
    },
    *addFee(amount) {
      if (amount === 0n) return
      fees ??= yield* loadFees()
      fees += amount
      yield sql`UPDATE ledger SET fees = ${unitsColumn(fees)}`
    },
    *doubt() {
      doubt ??= (yield* readSetting<Doubt>(doubtSetting)) ?? 'none'
      return doubt === 'none' ? undefined : doubt
    },
    preload(nonces, paymentRows, leafRows) {
      for (const row of paymentRows) remember(paymentIn(row))
      for (const nonce of nonces) {
        const own = leafRows.filter((row) => hexOf(row.nonce) === nonce)
        leaves.set(nonce, leafRowsIn(own))
      }
    },
    forgetAll() {
      fees = undefined
      doubt = undefined
      payments = createBoundedMap(rowsMax)
      leaves = createBoundedMap(rowsMax)
    },
  }
}

export function* readSetting<T>(name: string): Step<T | undefined> {
  const row = yield* first(sql`SELECT record FROM setting WHERE name = ${name}`)
  return row && decode<{ setting: T }>(row.record).setting
}

/** The fees of all payments that are accepted. */
export function* loadFees(): Step<bigint> {
  return BigInt((yield* first(sql`SELECT fees FROM ledger`))?.fees)
}
