/**
 * Rows of payments as the one writer left them: a payment is read and parsed once for all its steps. Only the writer may
 * remember rows, and it forgets them when a transaction is taken back, or when somebody else wrote.
 */
import { type Address, type ChallengeNonce, createBoundedMap } from '@svc-zerc20/protocol'
import type { OpenClaim, Payment } from '../../payment/records.js'
import { type Leaves, noLeaves } from '../leaves.js'
import { first, gathered, hexOf, key, type Query, type Row, type Step, sql } from '../sql.js'
import { decode } from '../stored.js'
import { unitsColumn } from '../units.js'
import { type LeafRows, leafRowsIn, loadLeaves, saveLeaves } from './leaf-rows.js'
import {
  insertPayment,
  isUnpaid,
  loadPayment,
  type PaymentRow,
  paymentIn,
  permitUnderWay,
  updatePayment,
} from './payment-rows.js'

export type Rows = {
  payment(nonce: ChallengeNonce): Step<PaymentRow | undefined>
  insert(payment: Payment): Step<number>
  update(row: PaymentRow, payment: Payment): Step<void>
  leaves(nonce: ChallengeNonce): Step<LeafRows>
  saveLeaves(nonce: ChallengeNonce, payment: number, before: Leaves, after: Leaves): Step<void>
  /** Claimed permits of this payer that may still take from its balance. */
  openClaims(payer: Address): Step<readonly OpenClaim[]>
  /** Adds to the fees of accepted payments. */
  addFee(amount: bigint): Step<void>
  setting<T>(name: string): Step<T | undefined>
  /** The keys of these whose rows are not remembered. */
  lacking(keys: Keys): Keys
  /** Remembers rows that were read before. */
  preload(read: ReadRows): void
  forgetAll(): void
}

/** The keys of rows that are read together: payments with their leaves, and open claims of payers. */
export type Keys = { readonly nonces: readonly ChallengeNonce[]; readonly payers: readonly Address[] }

/** Every row of these keys. */
export type ReadRows = Keys & {
  /** `id` and `record`. */
  readonly payments: readonly Row[]
  /** `nonce`, `payment`, `place` and `record`, by place. Absent: then only payments without any are remembered. */
  readonly leaves?: readonly Row[]
  /** `claim_payer` and `record`. */
  readonly claims: readonly Row[]
}

/** The time of doubt: payments up to this number, and burns up to this block. The copy had events up to this number. */
export type Doubt = { readonly payment: number; readonly block: number; readonly event: number }
/** The name of a `Doubt`. Absent unless the ledger went on with an older copy. */
export const doubtSetting = 'doubt'
/** The name of a `Pause` of issuance. Null when it was ended. */
export const pauseSetting = 'pause'

const rowsMax = 5_000

type Claims = ReadonlyMap<ChallengeNonce, OpenClaim>

export function createRows(): Rows {
  let payments = createBoundedMap<ChallengeNonce, PaymentRow>(rowsMax)
  let leaves = createBoundedMap<ChallengeNonce, LeafRows>(rowsMax)
  let claims = createBoundedMap<Address, Claims>(rowsMax)
  let fees: bigint | undefined
  let settings = new Map<string, unknown>()
  const remember = (row: PaymentRow) => void payments.set(row.payment.challenge.nonce, row)

  /** Claims of payers that are not known here are read once they are asked for. */
  function noteClaim(payment: Payment, isOpen: boolean): void {
    const permit = permitUnderWay(payment)
    const known = permit && claims.get(permit.payer)
    if (!known) return
    const after = new Map(known)
    const { challenge } = payment
    if (isOpen) after.set(challenge.nonce, { challenge, permitNonce: permit.permitNonce })
    else after.delete(challenge.nonce)
    claims.set(permit.payer, after)
  }

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
      noteClaim(row.payment, false)
      noteClaim(payment, true)
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
    *openClaims(payer) {
      const known = claims.get(payer) ?? claimsIn(yield claimsOf(payer))
      claims.set(payer, known)
      return [...known.values()]
    },
    *addFee(amount) {
      if (amount === 0n) return
      fees ??= yield* loadFees()
      fees += amount
      yield sql`UPDATE ledger SET fees = ${unitsColumn(fees)}`
    },
    *setting<T>(name: string) {
      if (!settings.has(name)) settings.set(name, yield* readSetting(name))
      return settings.get(name) as T | undefined
    },
    lacking: ({ nonces, payers }) => ({
      nonces: nonces.filter((nonce) => !payments.get(nonce) || !leaves.get(nonce)),
      payers: payers.filter((payer) => !claims.get(payer)),
    }),
    preload(read) {
      for (const row of read.payments.map(paymentIn)) {
        remember(row)
        if (isUnpaid(row.payment)) leaves.set(row.payment.challenge.nonce, { leaves: noLeaves })
      }
      if (read.leaves) {
        const byNonce = gathered(read.leaves, ({ nonce }) => hexOf(nonce))
        for (const nonce of read.nonces) leaves.set(nonce, leafRowsIn(byNonce.get(nonce) ?? []))
      }
      const byPayer = gathered(read.claims, ({ claim_payer: payer }) => hexOf(payer))
      for (const payer of read.payers) {
        claims.set(payer, claimsIn(byPayer.get(payer) ?? []))
      }
    },
    forgetAll() {
      fees = undefined
      settings = new Map()
      payments = createBoundedMap(rowsMax)
      leaves = createBoundedMap(rowsMax)
      claims = createBoundedMap(rowsMax)
    },
  }
}

/** Claimed permits of this payer that may still take from its balance: `claim_payer` and `record`. */
export const claimsOf = (payer: Address): Query =>
  sql`SELECT claim_payer, record FROM payment WHERE claim_payer = ${key(payer)} AND ${isUnderWay} ORDER BY id`

export const isUnderWay: Query = sql`stage IN ('claimed', 'demoted')`

export const claimsIn = (rows: readonly Row[]): Claims =>
  new Map(
    rows.flatMap(({ record }): [ChallengeNonce, OpenClaim][] => {
      const { challenge, claim } = decode<Payment>(record)
      return claim?.permit ? [[challenge.nonce, { challenge, permitNonce: claim.permit.permitNonce }]] : []
    }),
  )

export function* readSetting<T>(name: string): Step<T | undefined> {
  const row = yield* first(sql`SELECT record FROM setting WHERE name = ${name}`)
  return row && settingIn<T>(row)
}

export const settingIn = <T>({ record }: Row): T => decode<{ setting: T }>(record).setting

/** The fees of all payments that are accepted. */
export function* loadFees(): Step<bigint> {
  return BigInt((yield* first(sql`SELECT fees FROM ledger`))?.fees)
}
