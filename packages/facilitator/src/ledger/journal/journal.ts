/**
 * The crash-recovery journal: an append-only file of records, one record a line.
 *
 * An append resolves once its record is on the disk. Records that arrive while the disk syncs are written at once, so
 * that a kill of the process cannot lose them any more. They share the next sync, so that its cost is spread over all
 * callers that wait for it. When the disk refuses, every append under way is rejected, and the file is cut back to the
 * acknowledged records; the next append tries again.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { createFileTail, type FileTail, type JournalEnd } from './file-tail.js'
import type { JournalFields } from './line.js'
import { createRecordQueue, type RecordQueue } from './record-queue.js'

export type Journal = {
  /** Resolves when the record is durable; throws `SvcError('journal_failed')` when it is not and never will be. */
  append(fields: JournalFields): Promise<void>
  /** Resolves when no append is under way; throws when the newest record could not be written. */
  durable(): Promise<void>
  /**
   * Goes on in another file with the same content. `make` runs while nothing is written, and is told how many bytes
   * of the old file count; when it throws, the old file stays.
   */
  replaceFile(make: (bytes: number) => Promise<JournalEnd>): Promise<void>
  stats(): JournalStats
  close(): Promise<void>
}

export type JournalStats = {
  /** Records written since the journal was opened. */
  readonly records: number
  /** Records in the file. */
  readonly recordsHeld: number
  readonly syncs: number
  readonly bytes: number
  /** The disk refused a record, and has taken none since. */
  readonly failed: boolean
  /** The file is gone from its place, and nothing is recorded any more. */
  readonly lost?: boolean
}

export type JournalDeps = JournalEnd & {
  readonly onFailure: (err: unknown) => void
  /** Throws when the file is not ours to write any more. Called before every change of the file. */
  readonly assertHeld?: () => void
}

export function createJournal(deps: JournalDeps): Journal {
  const tail = createFileTail(deps, () => deps.assertHeld?.())
  const queue = createRecordQueue(deps.nextSeq)
  const writer = createJournalWriter(tail, queue, deps.onFailure)
  let isClosed = false
  return {
    append(fields) {
      if (isClosed) return Promise.reject(failure('the journal is closed'))
      const appended = queue.add(JSON.stringify(fields))
      writer.wake()
      return appended
    },
    replaceFile(make) {
      if (isClosed) return Promise.reject(failure('the journal is closed'))
      return writer.replaceFile(make)
    },
    // While the writer is idle, every record is on the disk or was rejected.
    durable: () => (writer.running() ? queue.last() : Promise.resolve()),
    stats: () => ({ ...writer.counts(), recordsHeld: queue.heldCount(), bytes: tail.durableBytes() }),
    async close() {
      isClosed = true
      await writer.running()
      await tail.close()
    },
  }
}

type JournalWriter = {
  /** A record waits in the queue. */
  wake(): void
  replaceFile: Journal['replaceFile']
  /** Resolves when the writer has nothing left to do; undefined while it is idle. */
  running(): Promise<void> | undefined
  counts(): Pick<JournalStats, 'records' | 'syncs' | 'failed'>
}

/** Writes and syncs what the queue holds, until the queue is empty. */
function createJournalWriter(
  tail: FileTail,
  queue: RecordQueue,
  onFailure: (err: unknown) => void,
): JournalWriter {
  let running: Promise<void> | undefined
  let onArrival = () => {}
  /** A replacement of the file, which waits until every written record is durable. */
  let replacing: (() => Promise<void>) | undefined
  const counts = { records: 0, syncs: 0, failed: false }

  async function run(): Promise<void> {
    while (queue.hasWaiting() || queue.writtenCount() > 0 || replacing) {
      try {
        if (replacing && queue.writtenCount() === 0) await replacing()
        else {
          if (!replacing) await writeWaiting(tail, queue)
          await syncWritten()
        }
      } catch (cause) {
        tail.distrustWritten()
        counts.failed = true
        onFailure(cause)
        queue.failAll(failure('the journal cannot be written', cause))
      }
    }
    running = undefined
  }

  /** Acknowledges the records written before the sync. A failure of later writes does not concern them. */
  async function syncWritten(): Promise<void> {
    const count = queue.writtenCount()
    const sync = tail.sync()
    const [synced, meanwhile] = await Promise.allSettled([sync, writeUntil(sync)])
    if (synced.status === 'rejected') throw synced.reason
    counts.syncs += 1
    counts.records += count
    if (count > 0) counts.failed = false
    queue.acknowledge(count)
    if (meanwhile.status === 'rejected') throw meanwhile.reason
  }

  /** Writes records that arrive while a sync runs. */
  async function writeUntil(sync: Promise<void>): Promise<void> {
    let isOver = false
    const end = () => {
      isOver = true
    }
    const over = sync.then(end, end)
    while (!isOver) {
      if (queue.hasWaiting() && !replacing) await writeWaiting(tail, queue)
      else {
        const arrival = new Promise<void>((resolve) => {
          onArrival = resolve
        })
        await Promise.race([over, arrival])
      }
    }
  }

  function wake(): void {
    running ??= run()
    onArrival()
  }

  return {
    wake,
    replaceFile(make) {
      if (replacing) return Promise.reject(failure('the journal is being replaced already'))
      return new Promise((done, failed) => {
        // A failure is told to the caller alone: no record is lost by it.
        replacing = () =>
          replaceFile(tail, queue, make)
            .then(done, failed)
            .finally(() => {
              replacing = undefined
            })
        wake()
      })
    },
    running: () => running,
    counts: () => counts,
  }
}

async function writeWaiting(tail: FileTail, queue: RecordQueue): Promise<void> {
  // After the events that are queued already, so that appends made in one go are one write.
  await new Promise((resolve) => setImmediate(resolve))
  await tail.makeReady()
  await tail.write(queue.takeWaiting())
}

async function replaceFile(
  tail: FileTail,
  queue: RecordQueue,
  make: (bytes: number) => Promise<JournalEnd>,
): Promise<void> {
  await tail.replace(async (bytes) => {
    const end = await make(bytes)
    queue.continueAt(end.nextSeq)
    return end
  })
}

const failure = (message: string, cause?: unknown) => new SvcError('journal_failed', message, { cause })
