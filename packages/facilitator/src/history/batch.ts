/** One batch of the writer: payments that were noted become records in the files, which the index is told of. */
import { type ChallengeNonce, type UnixSeconds, unixSeconds } from '@svc-zerc20/protocol'
import type { Clock } from '../payment/ports.js'
import { changesBy, type KnownPayments } from './change.js'
import type { HistoryFiles } from './file/history-files.js'
import type { IndexBehind } from './index/index-behind.js'
import type { HistoryPayment } from './payment.js'
import { fold, type HistoryRecord } from './record.js'

/** A payment that waits for its records. Which ones it needs is known once its history is. */
export type Noted = {
  readonly nonce: ChallengeNonce
  records(known: HistoryPayment | undefined, now: UnixSeconds): readonly HistoryRecord[]
}

export type BatchWriterDeps = {
  readonly files: Pick<HistoryFiles, 'append'>
  readonly index: Pick<IndexBehind, 'payments' | 'add' | 'room'>
  readonly clock: Pick<Clock, 'now'>
}

/** Makes a batch durable, and returns the number of its records. */
export const createBatchWriter =
  ({ files, index, clock }: BatchWriterDeps) =>
  async (batch: readonly Noted[]): Promise<number> => {
    await index.room()
    const known = await index.payments(batch.map(({ nonce }) => nonce))
    const made = recordsOf(batch, known, unixSeconds(clock))
    if (made.length === 0) return 0
    const first = await files.append(made)
    const records = made.map((record, i) => ({ seq: first + i, record }))
    index.add(changesBy(records, known), first + made.length - 1)
    return made.length
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
