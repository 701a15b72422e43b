/**
 * The index of the payment history: a LevelDB beside the history's files. It is derived from them and may be deleted at
 * any time. Its writer puts changes in, and everybody else asks its books.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { JournalPlace } from '../../payment/history-port.js'
import type { HistoryBooks } from '../books.js'
import type { HistoryPayment } from '../payment.js'
import { createBooks, viewsOf } from './books.js'
import { type HistoryChange, writeOf } from './changes.js'
import { keys } from './keys.js'
import { type Level, openLevel, put } from './level.js'
import { indexLimits } from './limits.js'
import { type IndexState, readIndexState, writeIndexState } from './stored.js'

export type HistoryIndex = {
  readonly books: HistoryBooks
  /** The payments as the index holds them, in the order of the nonces. */
  views(nonces: readonly ChallengeNonce[]): Promise<readonly (HistoryPayment | undefined)[]>
  /**
   * Puts changes in, oldest first, and moves `indexedSeq` to `seq`: all of it or nothing. Every `before` is what the
   * index holds then. The batch is not synced: what a crash takes away is put in again from the files.
   */
  put(changes: readonly HistoryChange[], seq: number): Promise<void>
  /** The sequence number of the last record that is in the index; 0 in an empty index. */
  indexedSeq(): number
  completeUpTo(): JournalPlace | undefined
  setCompleteUpTo(place: JournalPlace): Promise<void>
  /** Forgets everything. The files can then be put in from their beginning. */
  reset(): Promise<void>
  close(): Promise<void>
}

export type IndexLimits = typeof indexLimits

/** The folder that belongs to a history. */
export const indexFolderOf = (path: string): string => `${path}.index`

/**
 * Opens the index, or makes an empty one: also where the folder is damaged or of another format, because the files have
 * everything. Throws `SvcError('history_unusable')` when the folder cannot be used, as when another process has it.
 */
export async function openHistoryIndex(
  folder: string,
  limits: IndexLimits = indexLimits,
): Promise<HistoryIndex> {
  const level = await openLevel(folder, limits)
  let { indexedSeq, completeUpTo } = await stateOf(level)
  const alone = createQueue()

  return {
    books: createBooks(level, limits),
    views: (nonces) => viewsOf(level, nonces),
    put: (changes, seq) =>
      alone(async () => {
        if (seq < indexedSeq) throw new RangeError(`record ${seq} comes after ${indexedSeq}`)
        const operations = await writeOf(level, changes)
        await level.batch([
          ...operations,
          put(keys.state, writeIndexState({ indexedSeq: seq, completeUpTo })),
        ])
        indexedSeq = seq
      }),
    indexedSeq: () => indexedSeq,
    completeUpTo: () => completeUpTo,
    setCompleteUpTo: (place) =>
      alone(async () => {
        await level.put(keys.state, writeIndexState({ indexedSeq, completeUpTo: place }))
        completeUpTo = place
      }),
    reset: () =>
      alone(async () => {
        await level.clear()
        indexedSeq = 0
        completeUpTo = undefined
      }),
    close: () => alone(() => level.close()),
  }
}

/** An index without a state, or of another format, begins empty. */
async function stateOf(level: Level): Promise<IndexState> {
  const value = await level.get(keys.state)
  const state = value && readIndexState(value)
  if (state) return state
  await level.clear()
  return { indexedSeq: 0, completeUpTo: undefined }
}

/** One step after the other: a write reads sums first, which no other write may change meanwhile. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(step: () => Promise<T>): Promise<T> => {
    const result = last.then(step)
    last = result.catch(() => undefined)
    return result
  }
}
