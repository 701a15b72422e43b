/** A payment and the state of the index as values of the database: JSON, from the same tables as the journal's records. */
import { SvcError } from '@svc-zerc20/protocol'
import type { JournalPlace } from '../../payment/history-port.js'
import { type Accepted, lateReasons, type UnmatchedBurn } from '../../payment/records.js'
import { integer, oneOf, seconds, textLike, txHash } from '../../records/field-kinds.js'
import { burnRecord, challengeRecord, finalizedRecord } from '../../records/payment-records.js'
import { record } from '../../records/record.js'
import { type HistoryPayment, type LateBurn, recordKinds, type Turn } from '../payment.js'

const acceptedRecord = record<Accepted>({ burn: burnRecord, at: seconds })
const lateRecord = record<LateBurn>({
  burn: burnRecord,
  reason: oneOf('reason of a burn', lateReasons),
  at: seconds,
})
const unmatchedRecord = record<UnmatchedBurn>({
  txHash,
  reason: textLike('reason', '[a-z_]{1,64}'),
  at: seconds,
})
const turnRecord = record<Turn>({ seq: integer, kind: oneOf('kind of a record', recordKinds), at: seconds })

type Raw = Readonly<Record<string, unknown>>
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

/** Throws `SvcError('history_corrupt')` when the bytes are not what was written. */
function parse<T>(bytes: Buffer, read: (raw: Raw) => T): T {
  try {
    return read(JSON.parse(bytes.toString('utf8')) as Raw)
  } catch (cause) {
    throw new SvcError('history_corrupt', 'a record in the index of the payment history is damaged', {
      cause,
    })
  }
}

export const writeIssue = (issuedAt: number): Buffer => json(issuedAt)
export const readIssue = (bytes: Buffer): number => parse(bytes, seconds.fromJson)

export const writePayment = (payment: HistoryPayment): Buffer =>
  json({
    challenge: challengeRecord.toJson(payment.challenge),
    accepted: payment.accepted && acceptedRecord.toJson(payment.accepted),
    late: payment.late && lateRecord.toJson(payment.late),
    finalized: payment.finalized && finalizedRecord.toJson(payment.finalized),
    lateMinted: payment.lateMinted && finalizedRecord.toJson(payment.lateMinted),
    mintedBefore: payment.mintedBefore?.map(finalizedRecord.toJson),
    unmatched: payment.unmatched.map(unmatchedRecord.toJson),
    disclosedAt: payment.disclosedAt,
    turns: payment.turns.map(turnRecord.toJson),
    // A field that the index did not keep would be lost without a sign.
  } satisfies Record<keyof HistoryPayment, unknown>)

export const readPayment = (bytes: Buffer): HistoryPayment =>
  parse(bytes, (raw) => ({
    challenge: challengeRecord.fromJson(raw.challenge),
    ...(raw.accepted !== undefined && { accepted: acceptedRecord.fromJson(raw.accepted) }),
    ...(raw.late !== undefined && { late: lateRecord.fromJson(raw.late) }),
    ...(raw.finalized !== undefined && { finalized: finalizedRecord.fromJson(raw.finalized) }),
    ...(raw.lateMinted !== undefined && { lateMinted: finalizedRecord.fromJson(raw.lateMinted) }),
    ...(raw.mintedBefore !== undefined && {
      mintedBefore: (raw.mintedBefore as unknown[]).map(finalizedRecord.fromJson),
    }),
    unmatched: (raw.unmatched as unknown[]).map(unmatchedRecord.fromJson),
    ...(raw.disclosedAt !== undefined && { disclosedAt: seconds.fromJson(raw.disclosedAt) }),
    turns: (raw.turns as unknown[]).map(turnRecord.fromJson),
  }))

/** Raised when older entries would be misunderstood. An index of another format is made anew. */
const format = 2

export type IndexState = {
  readonly indexedSeq: number
  readonly completeUpTo: JournalPlace | undefined
  /** Writes to this index, this one included. */
  readonly writes: number
}

export const emptyState: IndexState = { indexedSeq: 0, completeUpTo: undefined, writes: 0 }

export const writeIndexState = (state: IndexState): Buffer => json({ format, ...state })

/** Undefined for another format. */
export const readIndexState = (bytes: Buffer): IndexState | undefined =>
  parse(bytes, (raw) =>
    raw.format === format
      ? {
          indexedSeq: integer.fromJson(raw.indexedSeq),
          completeUpTo: raw.completeUpTo as JournalPlace | undefined,
          writes: integer.fromJson(raw.writes),
        }
      : undefined,
  )
