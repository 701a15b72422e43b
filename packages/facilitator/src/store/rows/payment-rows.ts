/** Payments as rows: the record, and the columns that questions ask by. */
import { type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import {
  type AddressEpoch,
  amountOf,
  type Claim,
  type Payment,
  payerOf,
  timeOf,
} from '../../payment/records.js'
import { first, key, optionalKey, places, type Query, type Row, type Step, sql, type Value } from '../sql.js'
import { decode, encode } from '../stored.js'
import { unitsColumn } from '../units.js'

/**
 * - `unclaimed`: nobody presented a payment; forgotten some time after its expiry
 * - `kept`: nobody did, but money came to its address
 * - `demoted`: a reorg took its burn, which is sent again
 */
export type Stage = 'unclaimed' | 'kept' | 'claimed' | 'accepted' | 'demoted'

function stageOf({ claim, accepted, demoted, late, unmatched }: Payment): Stage {
  if (accepted) return 'accepted'
  if (demoted) return 'demoted'
  if (claim) return 'claimed'
  return late || unmatched ? 'kept' : 'unclaimed'
}

/** The permit that may still take from its payer's balance. */
export function permitUnderWay(payment: Payment): Claim['permit'] {
  const stage = stageOf(payment)
  return stage === 'claimed' || stage === 'demoted' ? payment.claim?.permit : undefined
}

/** Whether no burn of the payment is known: it has no leaves then. */
export const isUnpaid = (payment: Payment): boolean => stageOf(payment) === 'unclaimed'

/** An epoch in a column; null for an address that is minted by its own proof. */
export const epochColumn = (epoch: AddressEpoch | undefined): string | null =>
  epoch ? `${epoch.start}/${epoch.ledger}` : null

export function epochIn(column: string): AddressEpoch {
  const [start = '', ledger = ''] = column.split('/')
  return { start: Number(start), ledger }
}

export type PaymentRow = { readonly id: number; readonly payment: Payment }

export function* loadPayment(nonce: ChallengeNonce): Step<PaymentRow | undefined> {
  const row = yield* first(sql`SELECT id, record FROM payment WHERE nonce = ${key(nonce)}`)
  return row && paymentIn(row)
}

export const paymentIn = ({ id, record }: Row): PaymentRow => ({ id, payment: decode<Payment>(record) })

/** The columns that questions ask by, and that change. */
function columnsOf(payment: Payment): Readonly<Record<string, Value>> {
  return {
    stage: stageOf(payment),
    claim_payer: optionalKey(permitUnderWay(payment)?.payer),
    granted: payment.granted ? 1 : 0,
    late: payment.late?.reason ?? null,
    payer: optionalKey(payerOf(payment)),
    listed_at: timeOf(payment),
    listed_amount: unitsColumn(amountOf(payment)),
  }
}

const isSame = (a: Value | undefined, b: Value): boolean =>
  a === b || (a instanceof Buffer && b instanceof Buffer && a.equals(b))

export const nonceReused = (): SvcError =>
  new SvcError('nonce_reused', 'a challenge nonce or an address came up twice')

export function* insertPayment(payment: Payment): Step<number> {
  const { nonce, payTo, issuedAt, expiresAt, treasury, seller, epoch } = payment.challenge
  const columns = Object.entries(columnsOf(payment))
  const names: Query = { text: columns.map(([name]) => name).join(', '), values: [] }
  const row = yield* first(sql`
    INSERT INTO payment (nonce, pay_to, issued_at, expires_at, treasury, seller, epoch, record, ${names})
    VALUES (${key(nonce)}, ${key(payTo)}, ${issuedAt}, ${expiresAt}, ${key(treasury)}, ${seller ?? null}, ${epochColumn(epoch)},
      ${encode(payment)}, ${places(columns.map(([, value]) => value))})
    ON CONFLICT DO NOTHING RETURNING id`)
  if (!row) throw nonceReused()
  return row.id
}

/** Writes the record and those columns that differ: every column that is named makes its indexes be written. */
export function* updatePayment({ id, payment: before }: PaymentRow, payment: Payment): Step<void> {
  const known = columnsOf(before)
  const changed = Object.entries(columnsOf(payment)).filter(([name, value]) => !isSame(known[name], value))
  const set: Query = {
    text: changed.map(([name]) => `${name} = ?, `).join(''),
    values: changed.map(([, value]) => value),
  }
  yield sql`UPDATE payment SET ${set}record = ${encode(payment)} WHERE id = ${id}`
}
