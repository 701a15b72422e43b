/**
 * Writes a journal anew while it is in use. The records of one moment go to a new file, a little at a time. Records that
 * were appended since follow in one step, in which the journal writes nothing. Then the new file takes the old one's
 * name. The new file is complete on the disk before that, so that a crash leaves one file or the other.
 */
import { type FileHandle, open, rename, rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { syncFolder } from '../../system.js'
import type { JournalExtent } from './compaction-due.js'
import type { JournalEnd } from './file-tail.js'
import type { Journal } from './journal.js'
import { decodeLine, encodeLine, fieldsOf, type JournalFields } from './line.js'
import { readLines } from './replay.js'

export type Compaction = {
  readonly recordsBefore: number
  readonly recordsAfter: number
  readonly bytesBefore: number
  readonly bytesAfter: number
}

/** Characters in one write: forming so many makes others wait for less than a millisecond. */
const chunkChars = 1 << 16

const temporaryOf = (path: string) => `${path}.new`

/** Removes the file of a compaction that was cut off. */
export const dropUnfinished = (path: string): Promise<void> => rm(temporaryOf(path), { force: true })

/** The part of a folder that a compaction needs; a test can put a full or a failing one in its place. */
export type JournalFolder = {
  freeBytes(path: string): Promise<number>
  sync(path: string): Promise<void>
}

const realFolder: JournalFolder = {
  freeBytes: (path) => statfs(path).then(({ bavail, bsize }) => bavail * bsize),
  sync: syncFolder,
}

export async function compactJournal(deps: {
  path: string
  journal: Pick<Journal, 'replaceFile'>
  /** The extent of the old file that `records` stands for. */
  held: JournalExtent
  records: Iterable<JournalFields>
  /** Told of the file that is about to take the name of the old one. */
  onNextFile?: (file: FileHandle) => void
  signal: AbortSignal
  folder?: JournalFolder
}): Promise<Compaction> {
  const { path, held, signal, folder = realFolder } = deps
  await assertRoom(folder, path, held.bytes)
  const file = await open(temporaryOf(path), 'w+', 0o600)
  const writer = createLineWriter(file)
  const progress: Progress = { isInPlace: false }
  try {
    for (const fields of deps.records) {
      writer.add(fields)
      if (!writer.isFull()) continue
      signal.throwIfAborted()
      await writer.flush()
    }
    await writer.flush()
    await file.datasync()
    const shortened = writer.end()
    signal.throwIfAborted()
    deps.onNextFile?.(file)
    const tail = (bytes: number) => ({ from: held.bytes, to: bytes })
    await deps.journal.replaceFile((bytes) =>
      takeOver({ path, file, writer, folder, progress, ...tail(bytes) }),
    )
    if (progress.unsynced !== undefined) throw progress.unsynced
    return {
      recordsBefore: held.records,
      recordsAfter: shortened.nextSeq - 1,
      bytesBefore: held.bytes,
      bytesAfter: shortened.bytes,
    }
  } catch (error) {
    // Once the new file has the name, it is the journal, whatever else went wrong.
    if (!progress.isInPlace) await file.close().then(() => dropUnfinished(path))
    throw error
  }
}

/** Writes records to a file of their own. The file is durable when the promise resolves. */
export async function writeJournal(path: string, records: Iterable<JournalFields>): Promise<void> {
  const temporary = temporaryOf(path)
  const file = await open(temporary, 'w', 0o600)
  try {
    const writer = createLineWriter(file)
    for (const fields of records) {
      writer.add(fields)
      if (writer.isFull()) await writer.flush()
    }
    await writer.flush()
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await syncFolder(dirname(path))
}

/** Throws when the disk has no room for a second file. A full disk stops payments, and a long journal does not. */
async function assertRoom(folder: JournalFolder, path: string, bytes: number): Promise<void> {
  const free = await folder.freeBytes(dirname(path))
  if (free >= bytes) return
  throw new SvcError('journal_failed', `${free} bytes are free; writing the journal anew may take ${bytes}`)
}

type Progress = {
  isInPlace: boolean
  /** The error of the folder's sync. */
  unsynced?: unknown
}

/** Copies the records that were appended since, and gives the new file the old one's name. */
async function takeOver(deps: {
  path: string
  file: FileHandle
  writer: LineWriter
  folder: JournalFolder
  progress: Progress
  from: number
  to: number
}): Promise<JournalEnd> {
  const { path, file, writer } = deps
  const old = await open(path, 'r')
  try {
    await readLines(old, deps.from, deps.to, (bytes) => {
      const line = decodeLine(bytes)
      if (!line.ok) throw new SvcError('journal_corrupt', `a record just written is damaged: ${line.message}`)
      writer.add(fieldsOf(line.value))
    })
  } finally {
    await old.close()
  }
  await writer.flush()
  await file.sync()
  await rename(temporaryOf(path), path)
  deps.progress.isInPlace = true
  // Before the first append: otherwise a power failure could bring back the old file, without that record.
  const prepare = () => deps.folder.sync(dirname(path))
  try {
    await prepare()
    return { file, ...writer.end() }
  } catch (error) {
    deps.progress.unsynced = error
    return { file, ...writer.end(), prepare }
  }
}

type LineWriter = ReturnType<typeof createLineWriter>

function createLineWriter(file: FileHandle) {
  let text = ''
  let bytes = 0
  let nextSeq = 1
  return {
    add(fields: JournalFields): void {
      text += encodeLine(nextSeq, fields)
      nextSeq += 1
    },
    isFull: () => text.length >= chunkChars,
    async flush(): Promise<void> {
      const chunk = Buffer.from(text)
      text = ''
      for (let offset = 0; offset < chunk.length; ) {
        const { bytesWritten } = await file.write(chunk, offset, chunk.length - offset, bytes + offset)
        if (bytesWritten === 0) throw new SvcError('journal_failed', 'the disk takes no more bytes')
        offset += bytesWritten
      }
      bytes += chunk.length
    },
    end: () => ({ bytes, nextSeq }),
  }
}
