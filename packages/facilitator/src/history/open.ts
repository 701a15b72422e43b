/** Opens the payment history: its files, the index beside them, and the writer that keeps both. */
import { type Address, type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import type { HistoryPort } from '../payment/history-port.js'
import type { Clock } from '../payment/ports.js'
import type { Log } from '../telemetry/events.js'
import type { HistoryBooks } from './books.js'
import type { HistoryBinding } from './file/head.js'
import { type HistoryFiles, openHistoryFiles } from './file/history-files.js'
import { followFiles } from './index/follow-files.js'
import { type HistoryIndex, indexFolderOf, openHistoryIndex } from './index/history-index.js'
import { booksBehind, createIndexBehind, type IndexBehindDeps } from './index/index-behind.js'
import { createHistoryWriter, type HistoryWriterDeps } from './writer.js'

export type HistoryStats = {
  /** Records written since the start. */
  readonly records: number
  /** Bytes of all files. */
  readonly bytes: number
  /** The disk refused records, and has not taken them since. */
  readonly failed: boolean
}

export type History = {
  readonly port: HistoryPort
  readonly books: HistoryBooks
  /**
   * The payer lets the provider see its address and its burn. Resolves when that is on the disk; throws
   * `SvcError('journal_failed')` while the disk refuses. Nothing happens for a payment that is unknown,
   * disclosed, or by then of another payer.
   */
  disclose(nonce: ChallengeNonce, payer: Address): Promise<void>
  stats(): HistoryStats
  close(): Promise<void>
}

/** Throws as `openHistoryFiles` does, and `SvcError('history_unusable')` when the index cannot be used. */
export async function openHistory(deps: {
  readonly path: string
  readonly fileBytesMax: number
  readonly binding: HistoryBinding
  readonly clock: Clock
  readonly log: Log
  readonly limits: HistoryWriterDeps['limits'] & IndexBehindDeps['limits']
}): Promise<History> {
  const { log, clock, limits } = deps
  const onFailure = (err: unknown) => log({ event: 'history.failed', err })
  const files = await openHistoryFiles({
    ...deps,
    onLost: onFailure,
    onRotated: (file) => log({ event: 'history.rotated', file }),
  })
  const opened: { close(): Promise<void> }[] = [files]
  try {
    if (files.tornBytes > 0) log({ event: 'history.torn', bytes: files.tornBytes })
    let mendIndex = () => {}
    const index = await openHistoryIndex(indexFolderOf(deps.path), undefined, (err) => {
      log({ event: 'history.index_damaged', err })
      mendIndex()
    })
    opened.unshift(index)
    const fill = (signal?: AbortSignal) => fillIndex({ index, files, log, signal })
    await fill()
    const behind = createIndexBehind({ index, clock, onFailure, limits })
    opened.unshift(behind)
    const mend = (signal: AbortSignal) => behind.mend(() => fill(signal))
    const writer = createHistoryWriter({ files, index: behind, fillIndex: mend, clock, onFailure, limits })
    opened.unshift(writer)
    mendIndex = writer.mendIndex
    log({ event: 'history.opened', records: files.lastSeq(), bytes: files.bytes() })
    return {
      port: { ...writer, completeUpTo: index.completeUpTo, setCompleteUpTo: index.setCompleteUpTo },
      books: booksBehind(index.books, behind),
      disclose: writer.disclose,
      stats: () => ({ ...writer.stats(), bytes: files.bytes() }),
      close: () => closeAll(opened),
    }
  } catch (error) {
    await closeAll(opened)
    throw isCorrupt(error)
      ? new SvcError('journal_corrupt', `PAYMENT_HISTORY_PATH: ${error.message}`, { cause: error })
      : error
  }
}

/** Brings the index up to the files. One that is damaged is made anew; where that fails, the files are. */
async function fillIndex({
  index,
  files,
  log,
  signal,
}: {
  readonly index: HistoryIndex
  readonly files: HistoryFiles
  readonly log: Log
  readonly signal: AbortSignal | undefined
}): Promise<void> {
  const isMending = index.needsFilling()
  // The files are those that this daemon has written all along, so what was known of them still holds.
  const place = index.isDamaged() ? index.completeUpTo() : undefined
  if (index.isDamaged()) await index.reset()
  const follow = () =>
    followFiles({
      ...{ index, files, signal },
      onProgress: (records, of) => log({ event: 'history.indexing', records, of }),
      onOtherFiles: (indexed) => log({ event: 'history.index_discarded', indexed, records: files.lastSeq() }),
    })
  const added = await follow().catch(async (error) => {
    if (!isCorrupt(error) || (isMending && !index.isDamaged())) throw error
    await index.reset()
    return follow()
  })
  if (place) await index.setCompleteUpTo(place)
  index.filled()
  if (added > 0) log({ event: 'history.indexed', records: added })
}

const isCorrupt = (error: unknown): error is SvcError =>
  error instanceof SvcError && error.code === 'history_corrupt'

async function closeAll(parts: readonly { close(): Promise<void> }[]): Promise<void> {
  for (const part of parts) await part.close()
}
