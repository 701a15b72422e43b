/** The one table of fields of each record. JSON, its reader and the fast reader of lines all come from here. */
import {
  type Burn,
  type Challenge,
  type Finalized,
  type LateReason,
  lateReasons,
  type Mint,
  type SignedTransaction,
} from '../../payment/records.js'
import type { Binding } from './events.js'
import { type Field, optional } from './field.js'
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
  textLike,
  txHash,
  units,
} from './kinds.js'
import { type Fields, record } from './record.js'

export const challengeRecord = record<Challenge>({
  nonce: challengeNonce,
  payTo: address,
  amount: units,
  listPrice: units,
  issuedAt: seconds,
  expiresAt: seconds,
  deadline: optional(seconds),
  powNonce: integer,
  treasury: address,
  issuedAtBlock: height,
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
  nonce: integer,
  hash: txHash,
  raw: rawTransaction,
})

export const bindingRecord = record<Binding>({
  chainId: integer,
  token: address,
  helper: optional(address),
  seed: optional(textLike('fingerprint', '[0-9a-f]{16}')),
  id: optional(identity),
  generation: optional(integer),
  relayer: optional(record<NonNullable<Binding['relayer']>>({ address, nonce: integer })),
})

/** A burn that came late has no reason on the disk. */
export const otherLateReason: Field<Exclude<LateReason, 'late'>> = oneOf(
  'reason of a burn',
  lateReasons.filter((reason) => reason !== 'late'),
)
