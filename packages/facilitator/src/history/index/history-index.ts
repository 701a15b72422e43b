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
import { createGuard } from './guard.js'
import { emptyFolder, type Operation, openLevel } from './level.js'
import { indexLimits } from './limits.js'
import { emptyState, type IndexState } from './stored.js'
import { writeOf } from './write.js'
import * as WriteNumbers from './write-numbers.js'

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
  /**
   * Damage was found, by a question or by a write, and the index is not whole yet. Questions are refused until `filled` is
   * called; before a `reset` nothing else works either.
   */
  needsFilling(): boolean
  isDamaged(): boolean
  /** Forgets everything. The files can then be put in from their beginning. */
  reset(): Promise<void>
  /** Everything that the files have was put in. */
  filled(): void
  close(): Promise<void>
}

export type IndexLimits = typeof indexLimits

/** The folder that belongs to a history. */
export const indexFolderOf = (path: string): string => `${path}.index`

/**
 * Opens the index, or makes an empty one: also where the folder is damaged or of another format, because the files have
 * everything. `onDamage` is told of damage, now and later. Throws `SvcError('history_unusable')` when the folder cannot be
 * used, as when another process has it.
 */
export async function openHistoryIndex(
  folder: string,
  limits: IndexLimits = indexLimits,
  onDamage: (error: unknown) => void = () => undefined,
): Promise<HistoryIndex> {
  const level = await openLevel(folder, limits, onDamage)
  const guard = createGuard(onDamage)
  let state = emptyState
  // A write reads sums first, which no other write may change meanwhile.
  const alone = createSerial()
  /** The state that a write should have made when the disk refused it. */
  let refused: IndexState | undefined

  async function empty(): Promise<void> {
    await level.close()
    await emptyFolder(folder)
    await level.open()
    state = emptyState
    refused = undefined
    guard.emptied()
  }

  /** Opens the database again after a refused write, which may be on the disk all the same. */
  async function settle(refusedState: IndexState): Promise<void> {
    await level.close()
    await level.open()
    const found = await WriteNumbers.stateOf(level, limits)
    if (!isDeepStrictEqual(found, refusedState) && !isDeepStrictEqual(found, state)) {
      throw new SvcError('history_corrupt', `${folder} lost records`)
    }
    state = found
    refused = undefined
  }

  /**
   * One write at a time, with the state behind it. A refused write may have left half of itself in the log of the database,
   * behind which nothing can be relied on. The next write begins with a new log.
   */
  const write = (operations: () => Promise<readonly Operation[]>, next: () => IndexState): Promise<void> =>
    alone(() =>
      guard.use(async () => {
        if (refused) await settle(refused)
        const wanted = next()
        if (wanted === state) return
        const numbered = { ...wanted, writes: state.writes + 1 }
        const batch = [...(await operations()), ...WriteNumbers.operations(numbered, limits)]
        try {
          await level.batch(batch)
        } catch (error) {
          refused = numbered
          throw error
        }
        state = numbered
      }),
    )

  /** The records up to a number are put in once: a call that is made again finds its number there. */
  function after(seq: number): IndexState {
    if (seq < state.indexedSeq) throw new RangeError(`record ${seq} comes after ${state.indexedSeq}`)
    return seq === state.indexedSeq ? state : { ...state, indexedSeq: seq }
  }

  try {
    state = await guard.use(() => WriteNumbers.stateOf(level, limits))
  } catch (error) {
    if (!guard.damage()) await level.close()
    if (!guard.damage()) throw error
    await empty()
    guard.filled()
  }

  return {
    books: guard.books(createBooks(level, limits)),
    payments: (nonces) => guard.use(() => paymentsOf(level, nonces)),
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
    needsFilling: guard.isFilling,
    isDamaged: () => guard.damage() !== undefined,
    reset: () => alone(empty),
    filled: guard.filled,
    close: () => alone(() => level.close()),
  }
}
