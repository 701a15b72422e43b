/**
 * The crash-recovery journal: an append-only file of records, one a line.
 *
 * An append resolves once its record is on the disk. Records that arrive while the disk syncs are written at once,
 * so that a kill of the process cannot lose them any more, and share the next sync, so that its cost is spread over
 * everyone who waits for it. When the disk refuses, every append it concerns is rejected and the file is cut back to
 * what was acknowledged before; the next append tries again.
 */
import type { FileHandle } from 'node:fs/promises'
import { SvcError } from '@svc-zerc20/protocol'
import { type JournalFields, sealLine } from './line.js'

export type Journal = {
  /** Resolves when the record is durable; throws `SvcError('journal_failed')` when it is not and never will be. */
  append(fields: JournalFields): Promise<void>
  /** Resolves when nothing is under way any more; throws when the newest record could not be written. */
  durable(): Promise<void>
  /**
   * Goes on in another file that holds the same. `make` runs while nothing is written, and is told how many bytes
   * of the old file count; when it throws, the old file stays.
   */
  replaceFile(make: (bytes: number) => Promise<JournalEnd>): Promise<void>
  stats(): JournalStats
  close(): Promise<void>
}

/** A file to go on in: all its bytes are durable records, numbered below `nextSeq`. */
export type JournalEnd = {
  readonly file: JournalFile
  readonly bytes: number
  readonly nextSeq: number
  /** What is left to do before anything is written: appends are refused until it succeeded once. */
  readonly prepare?: () => Promise<void>
}

export type JournalStats = {
  /** Written since it was opened. */
  readonly records: number
  /** In the file. */
  readonly recordsHeld: number
  readonly syncs: number
  readonly bytes: number
  /** The disk refused a record, and took none since. */
  readonly failed: boolean
  /** The file is gone from its place, and nothing is recorded any more. */
  readonly lost?: boolean
}

/** The part of a file the journal needs; a test can put a failing disk in its place. */
export type JournalFile = Pick<FileHandle, 'write' | 'datasync' | 'truncate' | 'close'>

type Waiting = {
  readonly json: string
  readonly done: () => void
  readonly failed: (error: SvcError) => void
}

export type JournalDeps = JournalEnd & {
  readonly onFailure: (err: unknown) => void
  /** Throws when the file is not ours to write any more: asked before anything in it is changed. */
  readonly assertHeld?: () => void
}

export function createJournal(deps: JournalDeps): Journal {
  let { file } = deps
  let durableBytes = deps.bytes
  let writtenBytes = deps.bytes
  let nextSeq = deps.nextSeq
  let prepare = deps.prepare
  /** Records in order: first they wait to be written, then for a sync that begins after that. */
  let waiting: Waiting[] = []
  let written: Waiting[] = []
  let running: Promise<void> | undefined
  let onArrival = () => {}
  /** Waits for the moment in which everything written is durable. */
  let replacing: (() => Promise<void>) | undefined
  /** Batches are written in order, so the newest record is durable after all others. */
  let last: Promise<void> = Promise.resolve()
  let needsCut = false
  /** Since the last failure no record was written. */
  let hasFailed = false
  let closed = false
  let records = 0
  let syncs = 0

  function append(fields: JournalFields): Promise<void> {
    if (closed) return Promise.reject(failure('the journal is closed'))
    last = new Promise((done, failed) => {
      waiting.push({ json: JSON.stringify(fields), done, failed })
      running ??= run()
      onArrival()
    })
    // Whoever appended hears of a failure; that nobody asks `durable` must not end the process.
    last.catch(() => undefined)
    return last
  }

  async function run(): Promise<void> {
    while (waiting.length + written.length > 0 || replacing) {
      try {
        if (replacing && written.length === 0) await replacing()
        else {
          if (!replacing) await writeWaiting()
          await syncWritten()
        }
      } catch (cause) {
        fail(cause)
      }
    }
    running = undefined
  }

  async function writeWaiting(): Promise<void> {
    // After the events already queued, so that appends made in one go are one write.
    await new Promise((resolve) => setImmediate(resolve))
    deps.assertHeld?.()
    if (needsCut) await cut()
    if (prepare) await prepare()
    prepare = undefined
    const batch = waiting
    waiting = []
    written.push(...batch)
    // Numbered only now: until here the file could be replaced by a shorter one.
    const bytes = Buffer.from(batch.map(({ json }, i) => sealLine(nextSeq + i, json)).join(''))
    nextSeq += batch.length
    for (let offset = 0; offset < bytes.length; ) {
      const { bytesWritten } = await file.write(bytes, offset, bytes.length - offset, writtenBytes + offset)
      if (bytesWritten === 0) throw failure('the disk takes no more bytes')
      offset += bytesWritten
    }
    writtenBytes += bytes.length
  }

  async function cut(): Promise<void> {
    await file.truncate(durableBytes)
    await file.datasync()
    writtenBytes = durableBytes
    needsCut = false
  }

  /** Acknowledges what was written before; a failure of what is written meanwhile does not concern it. */
  async function syncWritten(): Promise<void> {
    const batch = [...written]
    const end = writtenBytes
    const sync = file.datasync()
    const [synced, meanwhile] = await Promise.allSettled([sync, writeUntil(sync)])
    if (synced.status === 'rejected') throw synced.reason
    // A file that lost its name took the bytes as well as any other.
    deps.assertHeld?.()
    syncs += 1
    records += batch.length
    durableBytes = end
    if (batch.length > 0) hasFailed = false
    written = written.slice(batch.length)
    for (const { done } of batch) done()
    if (meanwhile.status === 'rejected') throw meanwhile.reason
  }

  async function writeUntil(sync: Promise<void>): Promise<void> {
    let isOver = false
    const over = sync.then(
      () => {
        isOver = true
      },
      () => {
        isOver = true
      },
    )
    while (!isOver) {
      if (waiting.length > 0 && !replacing) await writeWaiting()
      else {
        const arrival = new Promise<void>((resolve) => {
          onArrival = resolve
        })
        await Promise.race([over, arrival])
      }
    }
  }

  /** Sequence numbers of what was lost are taken again, so that the file never shows a gap. */
  function fail(cause: unknown): void {
    nextSeq -= written.length
    const lost = [...written.splice(0), ...waiting.splice(0)]
    needsCut = true
    hasFailed = true
    deps.onFailure(cause)
    for (const { failed } of lost) failed(failure('the journal cannot be written', cause))
  }

  function replaceFile(make: (bytes: number) => Promise<JournalEnd>): Promise<void> {
    if (closed || replacing) return Promise.reject(failure('the journal is busy or closed'))
    return new Promise((done, failed) => {
      replacing = async () => {
        try {
          deps.assertHeld?.()
          if (needsCut) await cut()
          const old = file
          const end = await make(durableBytes)
          file = end.file
          durableBytes = end.bytes
          writtenBytes = end.bytes
          nextSeq = end.nextSeq
          prepare = end.prepare
          await old.close()
          done()
        } catch (error) {
          // Nobody's record is lost by it.
          failed(error)
        } finally {
          replacing = undefined
        }
      }
      running ??= run()
      onArrival()
    })
  }

  return {
    append,
    replaceFile,
    // Nothing under way: what failed was told to whoever appended it, and the rest is on the disk.
    durable: () => (running ? last : Promise.resolve()),
    stats: () => ({
      records,
      recordsHeld: nextSeq - 1 - written.length,
      syncs,
      bytes: durableBytes,
      failed: hasFailed,
    }),
    async close() {
      closed = true
      await running
      await file.close()
    },
  }
}

const failure = (message: string, cause?: unknown) => new SvcError('journal_failed', message, { cause })
