/**
 * The parts of a payment as stored records. Each has one table of fields: its JSON, the reader of that JSON and the fast
 * reader of journal lines all come from this table.
 */
import {
  type AddressEpoch,
  type Burn,
  type Challenge,
  type DoneSweep,
  type Fee,
  type Finalized,
  type LateReason,
  lateReasons,
  type Mint,
  type SignedTransaction,
} from '../payment/records.js'
import { type Field, optional, storedAs } from './field.js'
import {
  address,
  blockHash,
  challengeNonce,
  height,
  identity,
  integer,
  oneOf,
  rawTransaction,
  seconds,
  txHash,
  units,
} from './field-kinds.js'
import { type Fields, record } from './record.js'

const feeRecord = record<Fee>({
  amount: units,
  bps: integer,
  chargeTo: oneOf('bearer of a fee', ['payer', 'provider']),
  recipient: optional(address),
})

export const challengeRecord = record<Challenge>({
  nonce: challengeNonce,
  payTo: address,
  amount: units,
  listPrice: units,
  issuedAt: seconds,
  expiresAt: seconds,
  deadline: optional(seconds),
  powNonce: integer,
  epoch: optional(record<AddressEpoch>({ ledger: identity, start: integer })),
  treasury: address,
  issuedAtBlock: height,
  fee: optional(feeRecord),
})

export const burnFields: Fields<Burn> = {
  txHash,
  blockNumber: height,
  blockHash,
  leafIndex: height,
  from: address,
  value: units,
}
export const burnRecord = record<Burn>(burnFields)

export const mintRecord = record<Mint>({
  txHash: optional(txHash),
  blockNumber: optional(height),
  value: units,
})

export const finalizedRecord = record<Finalized>({ mint: mintRecord, at: seconds })

export const transactionRecord = record<SignedTransaction>({
  txNonce: storedAs('nonce', integer),
  hash: txHash,
  raw: rawTransaction,
  from: optional(address),
})

export const doneSweepRecord = record<DoneSweep>({
  recipient: address,
  amount: units,
  payments: integer,
  txHash,
  blockNumber: height,
  at: seconds,
})

/** The reason of a burn that bought nothing. The reason `late` is never written: a record without a reason means it. */
export const otherLateReason: Field<Exclude<LateReason, 'late'>> = oneOf(
  'reason of a burn',
  lateReasons.filter((reason) => reason !== 'late'),
)
