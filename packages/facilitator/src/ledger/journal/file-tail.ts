/**
 * The end of the journal's file. Bytes up to one place are durable; bytes behind that place are written, and wait for
 * a sync. After a failure the file is cut back to the durable bytes before anything else is written.
 */
import type { FileHandle } from 'node:fs/promises'
import { SvcError } from '@svc-zerc20/protocol'

/** The part of a file that the journal needs; a test can put a failing disk in its place. */
export type JournalFile = Pick<FileHandle, 'write' | 'datasync' | 'truncate' | 'close'>

/** A file to go on in: all its bytes are durable records, numbered below `nextSeq`. */
export type JournalEnd = {
  readonly file: JournalFile
  readonly bytes: number
  readonly nextSeq: number
  /** Work that is left before the first write. Appends are refused until it succeeded once. */
  readonly prepare?: () => Promise<void>
}

export type FileTail = {
  durableBytes(): number
  /** Throws when the file must not be written; cuts off what a failed write left behind. */
  makeReady(): Promise<void>
  /** Writes behind everything that was written before. */
  write(bytes: Buffer): Promise<void>
  /** Makes durable what was written before this call. Writes may go on meanwhile. */
  sync(): Promise<void>
  /** A write or a sync failed: the bytes behind the durable ones cannot be trusted. */
  distrustWritten(): void
  /** Goes on in another file. `make` is told how many bytes of the old file count; when it throws, the old file stays. */
  replace(make: (bytes: number) => Promise<JournalEnd>): Promise<void>
  close(): Promise<void>
}

/** `assertHeld` throws when the file is not ours to write any more. */
export function createFileTail(end: JournalEnd, assertHeld: () => void): FileTail {
  let { file, prepare } = end
  let durableBytes = end.bytes
  let writtenBytes = end.bytes
  let needsCut = false

  async function cut(): Promise<void> {
    if (!needsCut) return
    await file.truncate(durableBytes)
    await file.datasync()
    writtenBytes = durableBytes
    needsCut = false
  }

  return {
    durableBytes: () => durableBytes,
    async makeReady() {
      assertHeld()
      await cut()
      if (prepare) await prepare()
      prepare = undefined
    },
    async write(bytes) {
      for (let offset = 0; offset < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, offset, bytes.length - offset, writtenBytes + offset)
        if (bytesWritten === 0) throw new SvcError('journal_failed', 'the disk takes no more bytes')
        offset += bytesWritten
      }
      writtenBytes += bytes.length
    },
    async sync() {
      const upTo = writtenBytes
      await file.datasync()
      // A file that lost its name takes bytes as well as any other, and nobody would read them again.
      assertHeld()
      durableBytes = upTo
    },
    distrustWritten() {
      needsCut = true
    },
    async replace(make) {
      assertHeld()
      await cut()
      const old = file
      const next = await make(durableBytes)
      file = next.file
      prepare = next.prepare
      durableBytes = next.bytes
      writtenBytes = next.bytes
      await old.close()
    },
    close: () => file.close(),
  }
}
