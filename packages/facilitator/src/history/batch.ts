/** One batch of the writer: payments that were noted become records in the files, and then changes of the index. */
import { type ChallengeNonce, type UnixSeconds, unixSeconds } from '@svc-zerc20/protocol'
import type { Clock } from '../payment/ports.js'
import { changesBy, type HistoryChange, type KnownPayments } from './change.js'
import type { HistoryFiles } from './file/history-files.js'
import type { HistoryIndex } from './index/history-index.js'
import type { HistoryPayment } from './payment.js'
import { fold, type HistoryRecord, type NumberedRecord } from './record.js'

/** A payment that waits for its records. Which ones it needs is known once its history is. */
export type Noted = {
  readonly nonce: ChallengeNonce
  records(known: HistoryPayment | undefined, now: UnixSeconds): readonly HistoryRecord[]
}

export type BatchWriterDeps = {
  readonly files: Pick<HistoryFiles, 'append'>
  readonly index: Pick<HistoryIndex, 'payments' | 'put'>
  readonly clock: Pick<Clock, 'now'>
}

/** Records that are in the file, and what they change. */
type Appended = { readonly records: readonly NumberedRecord[]; readonly changes: readonly HistoryChange[] }

/** Makes a batch durable. What reached the file is not appended again when the index refused it. Returns its records. */
export function createBatchWriter({ files, index, clock }: BatchWriterDeps) {
  let unindexed: Appended | undefined

  return async (batch: readonly Noted[]): Promise<number> => {
    unindexed ??= await append(batch)
    const { records, changes } = unindexed
    const last = records.at(-1)
    if (last) await index.put(changes, last.seq)
    unindexed = undefined
    return records.length
  }

  async function append(batch: readonly Noted[]): Promise<Appended> {
    const known = await index.payments(batch.map(({ nonce }) => nonce))
    const made = recordsOf(batch, known, unixSeconds(clock))
    if (made.length === 0) return { records: [], changes: [] }
    const first = await files.append(made)
    const records = made.map((record, i) => ({ seq: first + i, record }))
    return { records, changes: changesBy(records, known) }
  }
}

/** The records of a batch. A payment that comes twice builds on its own records. */
function recordsOf(batch: readonly Noted[], known: KnownPayments, now: UnixSeconds): HistoryRecord[] {
  const payments = new Map(known)
  return batch.flatMap(({ nonce, records }) => {
    const made = records(payments.get(nonce), now)
    // They have no number before they are in the file.
    for (const record of made) payments.set(nonce, fold(payments.get(nonce), record, 0))
    return made
  })
}
