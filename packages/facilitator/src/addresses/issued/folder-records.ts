/** Keys and values of the folder of issued addresses: big-endian, so that the order of keys is the order of numbers. */
import { type Address, SvcError } from '@svc-zerc20/protocol'
import type { Challenge } from '../../payment/records.js'
import { optional } from '../../records/field.js'
import { oneOf, seconds } from '../../records/field-kinds.js'
import { burnFields, challengeRecord } from '../../records/payment-records.js'
import { record } from '../../records/record.js'
import type { Checkpoint, FollowedBlock, FoundTransfer } from './store.js'

const number = (value: number | bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}
const addressBytes = 20
const bytesOf = (address: Address): Buffer => Buffer.from(address.slice(2), 'hex')
const addressIn = (bytes: Buffer): Address => `0x${bytes.toString('hex')}` as Address

const key = (prefix: string, ...parts: Buffer[]): Buffer => Buffer.concat([Buffer.from(prefix), ...parts])

/** One letter for each kind of record. */
export const keys = {
  binding: key('a'),
  followed: key('f'),
  journal: key('j'),
  /** A challenge, by its address. */
  issued: (payTo: Address) => key('i', bytesOf(payTo)),
  /** An address again, by its time of issue. */
  age: (issuedAt: number, payTo: Address) => key('o', number(issuedAt), bytesOf(payTo)),
  /** A transfer to an address. */
  transfer: (payTo: Address, leafIndex: bigint) => key('t', bytesOf(payTo), number(leafIndex)),
  /** The time at which an address is looked at. */
  due: (at: number, payTo: Address) => key('w', number(at), bytesOf(payTo)),
} as const

/** All records of one kind, those of one address, or those below a number. */
export const ranges = {
  ages: { gte: key('o'), lt: key('p') },
  agesBelow: (issuedAt: number) => ({ gte: key('o'), lt: key('o', number(issuedAt)) }),
  transfers: { gte: key('t'), lt: key('u') },
  transfersTo: (payTo: Address) => ({
    gte: key('t', bytesOf(payTo)),
    lte: key('t', bytesOf(payTo), Buffer.alloc(8, 0xff)),
  }),
  issued: { gte: key('i'), lt: key('j') },
  dueUpTo: (at: number) => ({ gte: key('w'), lt: key('w', number(at + 1)) }),
} as const

const numberAt = 1
const addressAfterNumber = numberAt + 8

export const ageIn = (age: Buffer) => ({
  issuedAt: Number(age.readBigUInt64BE(numberAt)),
  payTo: addressIn(age.subarray(addressAfterNumber, addressAfterNumber + addressBytes)),
})
export const dueIn = (due: Buffer) => ({
  dueAt: Number(due.readBigUInt64BE(numberAt)),
  payTo: addressIn(due.subarray(addressAfterNumber, addressAfterNumber + addressBytes)),
})
export const payToIn = (transfer: Buffer): Address => addressIn(transfer.subarray(1, 1 + addressBytes))

/** The journal of the folder. Beside another journal, or an older state of it, all transfers are judged anew. */
export type BesideJournal = { readonly id: string; readonly generation: number }
export const writeJournal = ({ id, generation }: BesideJournal): Buffer => json({ id, generation })
export const readJournal = (bytes: Buffer): BesideJournal =>
  parse(bytes, (raw) => ({ id: String(raw.id), generation: Number(raw.generation) }))

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
type Raw = Readonly<Record<string, unknown>>

/** Throws `SvcError('issued_unusable')` when the bytes are not what was written. */
function parse<T>(bytes: Buffer, read: (raw: Raw) => T): T {
  try {
    return read(JSON.parse(bytes.toString('utf8')) as Raw)
  } catch (cause) {
    throw new SvcError('issued_unusable', 'a record of the issued addresses is damaged', { cause })
  }
}

export const writeIssued = (challenge: Challenge): Buffer => json(challengeRecord.toJson(challenge))
export const readIssued = (bytes: Buffer): Challenge => parse(bytes, challengeRecord.fromJson)

const foundRecord = record<FoundTransfer>({
  ...burnFields,
  minedAt: seconds,
  beside: optional(oneOf('what a batch did', ['counted', 'minted'])),
})
export const writeFound = (transfer: FoundTransfer): Buffer => json(foundRecord.toJson(transfer))
export const readFound = (bytes: Buffer): FoundTransfer => parse(bytes, foundRecord.fromJson)

const fieldsOf = ({ number: at, hash, token }: Checkpoint) => ({
  number: at,
  hash,
  ...(token && { size: `${token.size}`, hashChain: `${token.hashChain}` }),
})
const readCheckpoint = (raw: Raw): Checkpoint => ({
  number: Number(raw.number),
  ...(typeof raw.hash === 'string' && { hash: raw.hash }),
  ...(raw.size !== undefined && {
    token: { size: BigInt(raw.size as string), hashChain: BigInt(raw.hashChain as string) },
  }),
})
export const writeFollowed = ({ earlier, ...block }: FollowedBlock): Buffer =>
  json({ ...fieldsOf(block), ...(earlier && { earlier: earlier.map(fieldsOf) }) })
export const readFollowed = (bytes: Buffer): FollowedBlock =>
  parse(bytes, (raw) => ({
    ...readCheckpoint(raw),
    ...(Array.isArray(raw.earlier) && { earlier: raw.earlier.map(readCheckpoint) }),
  }))
