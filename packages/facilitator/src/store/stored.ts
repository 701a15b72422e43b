/**
 * Records as JSON, in the database and in the journal: bigints as decimal strings, a payload in its wire form. Only our own
 * text is read back, from under a checksum or from a transaction, so its fields are not judged again.
 */
import { Payload, SvcError } from '@svc-zerc20/protocol'
import type { FollowedBlock } from '../chain/transfers/issued-store.js'
import type { FoundTransfer } from '../payment/found/judge-transfers.js'
import type { Payment } from '../payment/records.js'
import type { Binding, LedgerEvent } from './events.js'
import type { Leaf } from './leaves.js'

export type Stored = Payment | Leaf | LedgerEvent | Binding | FoundTransfer | FollowedBlock

/** Names of fields with bigints, anywhere in a record. The compiler holds this table against all records. */
const bigintFields: Record<BigintField<Stored>, true> = {
  amount: true,
  blockNumber: true,
  burned: true,
  hashChain: true,
  issuedAtBlock: true,
  leafIndex: true,
  listPrice: true,
  permitNonce: true,
  size: true,
  value: true,
}

type BigintField<T> = T extends string | number | bigint | boolean | undefined | Payload.Payload
  ? never
  : T extends readonly (infer Each)[]
    ? BigintField<Each>
    : { [K in keyof T]-?: NonNullable<T[K]> extends bigint ? K : BigintField<NonNullable<T[K]>> }[keyof T]

const isBigint = (name: string): boolean => Object.hasOwn(bigintFields, name)

export const encode = (record: object): string => JSON.stringify(plain(record))

/** The record with values that JSON has. A walk of our own is twice as quick as a replacer. */
function plain(value: unknown, name = ''): unknown {
  if (typeof value === 'bigint') {
    if (!isBigint(name)) throw new SvcError('invariant', `${name} is not known to be a bigint`)
    return value.toString()
  }
  if (typeof value !== 'object' || value === null) return value
  if (name === 'payload') return Payload.toWire(value as Payload.Payload)
  if (Array.isArray(value)) return value.map((each) => plain(each, name))
  const record: Record<string, unknown> = {}
  for (const field in value) record[field] = plain((value as Record<string, unknown>)[field], field)
  return record
}

export const decode = <T extends object>(text: string): T => revived(JSON.parse(text)) as T

/** The record of parsed JSON. */
export function revived(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return isBigint(name) ? BigInt(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (name === 'payload') return payloadOf(value)
  if (Array.isArray(value)) return value.map((each) => revived(each, name))
  const record: Record<string, unknown> = {}
  for (const field in value) record[field] = revived((value as Record<string, unknown>)[field], field)
  return record
}

function payloadOf(wire: unknown): Payload.Payload {
  const parsed = Payload.parse(wire)
  if (!parsed.ok) throw new SvcError('ledger_corrupt', parsed.message)
  return parsed.value
}
