/**
 * The index of the payment history: a LevelDB beside the history's files. It is derived from them and may be deleted at
 * any time. Its writer puts changes in, and everybody else asks its books.
 */
import { isDeepStrictEqual } from 'node:util'
import { type ChallengeNonce, createSerial, SvcError } from '@svc-zerc20/protocol'
import type { JournalPlace } from '../../payment/history-port.js'
import type { HistoryBooks } from '../books.js'
import type { HistoryChange, KnownPayments } from '../change.js'
import { createBooks, paymentsOf } from './books.js'
import { keys } from './keys.js'
import { type Level, type Operation, openLevel, put } from './level.js'
import { indexLimits } from './limits.js'
import { type IndexState, readIndexState, writeIndexState } from './stored.js'
import { writeOf } from './write.js'

export type HistoryIndex = {
  readonly books: HistoryBooks
  /** The payments of these nonces. Those that the index does not have are missing. */
  payments(nonces: readonly ChallengeNonce[]): Promise<KnownPayments>
  /**
   * Puts changes in, oldest first, and moves `indexedSeq` to `seq`: all of it or nothing. Every `before` is what the
   * index holds then. The batch is not synced: what a crash takes away is put in again from the files. When it throws, the
   * same call is made again later.
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
  let state = await stateOf(level)
  // A write reads sums first, which no other write may change meanwhile.
  const alone = createSerial()
  /** The state that a write should have made when the disk refused it. */
  let refused: IndexState | undefined

  /** Opens the database again after a refused write, which may be on the disk all the same. */
  async function settle(refusedState: IndexState): Promise<void> {
    await level.close()
    await level.open()
    const found = await stateOf(level)
    if (!isDeepStrictEqual(found, refusedState) && !isDeepStrictEqual(found, state)) {
      throw new SvcError('history_corrupt', `${folder} lost records; the next start puts them in again`)
    }
    state = found
    refused = undefined
  }

  /**
   * One write at a time, with the state behind it. A refused write may have left half of itself in the log of the database,
   * behind which nothing can be relied on. The next write begins with a new log.
   */
  const write = (operations: () => Promise<readonly Operation[]>, next: () => IndexState): Promise<void> =>
    alone(async () => {
      if (refused) await settle(refused)
      const wanted = next()
      if (wanted === state) return
      const batch = [...(await operations()), put(keys.state, writeIndexState(wanted))]
      try {
        await level.batch(batch)
      } catch (error) {
        refused = wanted
        throw error
      }
      state = wanted
    })

  /** The records up to a number are put in once: a call that is made again finds its number there. */
  function after(seq: number): IndexState {
    if (seq < state.indexedSeq) throw new RangeError(`record ${seq} comes after ${state.indexedSeq}`)
    return seq === state.indexedSeq ? state : { ...state, indexedSeq: seq }
  }

  return {
    books: createBooks(level, limits),
    payments: (nonces) => paymentsOf(level, nonces),
    put: (changes, seq) =>
      write(
        () => writeOf(level, changes),
        () => after(seq),
      ),
    indexedSeq: () => state.indexedSeq,
    completeUpTo: () => state.completeUpTo,
    setCompleteUpTo: (place) =>
      write(
        async () => [],
        () => ({ ...state, completeUpTo: place }),
      ),
    reset: () =>
      alone(async () => {
        await level.clear()
        state = emptyState
      }),
    close: () => alone(() => level.close()),
  }
}

const emptyState: IndexState = { indexedSeq: 0, completeUpTo: undefined }

/** An index without a state, or of another format, begins empty. */
async function stateOf(level: Level): Promise<IndexState> {
  const value = await level.get(keys.state)
  const state = value && readIndexState(value)
  if (state) return state
  await level.clear()
  return emptyState
}
