/**
 * The crash-recovery journal: an append-only file of records, one a line.
 *
 * An append resolves once its record is on the disk. Records that arrive while the disk is busy share the next
 * sync, so the cost of a sync is spread over everyone who waits for it. When the disk refuses, every waiting
 * append is rejected and the file is cut back to what was acknowledged before; the next append tries again.
 */
import type { FileHandle } from 'node:fs/promises'
import { SvcError } from '@svc-zerc20/protocol'
import { encodeLine, type JournalFields } from './journal-line.js'

export type Journal = {
  /** Resolves when the record is durable; throws `SvcError('journal_failed')` when it is not and never will be. */
  append(fields: JournalFields): Promise<void>
  /** Resolves when nothing is under way any more; throws when the newest record could not be written. */
  durable(): Promise<void>
  stats(): JournalStats
  close(): Promise<void>
}

export type JournalStats = {
  readonly records: number
  readonly syncs: number
  readonly bytes: number
  readonly failed: boolean
}

/** The part of a file the journal needs; a test can put a failing disk in its place. */
export type JournalFile = Pick<FileHandle, 'write' | 'datasync' | 'truncate' | 'close'>

type Waiting = {
  readonly line: Buffer
  readonly done: () => void
  readonly failed: (error: SvcError) => void
}

export function createJournal(deps: {
  file: JournalFile
  /** Bytes the file holds, all of them durable. */
  bytes: number
  nextSeq: number
  onFailure: (err: unknown) => void
}): Journal {
  const { file } = deps
  let durableBytes = deps.bytes
  let nextSeq = deps.nextSeq
  let waiting: Waiting[] = []
  let writing: Promise<void> | undefined
  /** Batches are written in order, so the newest record is durable after all others. */
  let last: Promise<void> = Promise.resolve()
  let needsCut = false
  let closed = false
  let records = 0
  let syncs = 0

  function append(fields: JournalFields): Promise<void> {
    if (closed) return Promise.reject(failure('the journal is closed'))
    last = new Promise((done, failed) => {
      waiting.push({ line: Buffer.from(encodeLine(nextSeq, fields)), done, failed })
      nextSeq += 1
      writing ??= writeAll()
    })
    // Whoever appended hears of a failure; that nobody asks `durable` must not end the process.
    last.catch(() => undefined)
    return last
  }

  async function writeAll(): Promise<void> {
    // After the events already queued, so that appends made in one go share the first sync, too.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await write(Buffer.concat(batch.map(({ line }) => line)))
        records += batch.length
        for (const { done } of batch) done()
      } catch (cause) {
        fail([...batch, ...waiting.splice(0)], cause)
      }
    }
    writing = undefined
  }

  async function write(bytes: Buffer): Promise<void> {
    if (needsCut) {
      await file.truncate(durableBytes)
      await file.datasync()
      needsCut = false
    }
    needsCut = true
    for (let offset = 0; offset < bytes.length; ) {
      const { bytesWritten } = await file.write(bytes, offset, bytes.length - offset, durableBytes + offset)
      if (bytesWritten === 0) throw failure('the disk takes no more bytes')
      offset += bytesWritten
    }
    await file.datasync()
    syncs += 1
    durableBytes += bytes.length
    needsCut = false
  }

  /** Sequence numbers of what was lost are taken again, so that the file never shows a gap. */
  function fail(lost: readonly Waiting[], cause: unknown): void {
    nextSeq -= lost.length
    deps.onFailure(cause)
    for (const { failed } of lost) failed(failure('the journal cannot be written', cause))
  }

  return {
    append,
    // Nothing under way: what failed was told to whoever appended it, and the rest is on the disk.
    durable: () => (writing ? last : Promise.resolve()),
    stats: () => ({ records, syncs, bytes: durableBytes, failed: needsCut && !writing }),
    async close() {
      closed = true
      await writing
      await file.close()
    },
  }
}

const failure = (message: string, cause?: unknown) => new SvcError('journal_failed', message, { cause })
