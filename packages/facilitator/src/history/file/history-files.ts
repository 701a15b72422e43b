/**
 * The files of a history in use: locked, checked, and open at their end. Lines are appended many at a time and count once
 * they are on the disk. A full file is renamed and never changed again.
 */
import { constants, fstatSync, statSync } from 'node:fs'
import { type FileHandle, open, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { createFileTail, type FileTail, type JournalEnd } from '../../ledger/journal/file-tail.js'
import { encodeLine, type JournalLine } from '../../ledger/journal/line.js'
import { type JournalLock, lockJournal, unusable } from '../../ledger/journal/lock.js'
import { syncFolder } from '../../system.js'
import type { HistoryRecord, NumberedRecord } from '../record.js'
import { readRecord, toFields } from '../record-line.js'
import { bindingFields, type HistoryBinding } from './head.js'
import { readRecords, readSegment } from './read-segment.js'
import {
  assertUnbroken,
  broken,
  historySetting,
  listSegments,
  type Segment,
  segmentPath,
} from './segments.js'

export type HistoryFiles = {
  /** The number of the newest line on the disk. */
  lastSeq(): number
  /** The newest record when the files were opened. Undefined when the newest file had none. */
  readonly lastRecord: NumberedRecord | undefined
  /** Bytes of all files. */
  bytes(): number
  /** Bytes of a last line that a crash tore. Nobody was told of its record. */
  readonly tornBytes: number
  /**
   * Appends records with ascending numbers and returns the first. When it throws, none of them counts, and the next call
   * may try again.
   */
  append(records: readonly HistoryRecord[]): Promise<number>
  /** Hands over the records behind this number, oldest first, a part at a time. Nothing is appended meanwhile. */
  readBehind(seq: number, onPart: (records: readonly NumberedRecord[]) => Promise<void>): Promise<void>
  close(): Promise<void>
}

export type HistoryFilesDeps = {
  readonly path: string
  readonly binding: HistoryBinding
  readonly fileBytesMax: number
  /** Another daemon took the file although it is locked: nothing is appended any more. */
  readonly onLost?: (error: SvcError) => void
  /** A full file was given its number. */
  readonly onRotated?: (path: string) => void
}

/**
 * Throws `SvcError('journal_locked')` when another daemon has the history, `journal_corrupt` with file and line when it is
 * damaged, `journal_newer` when a newer version wrote it, and `journal_unusable` when the file system refuses.
 */
export async function openHistoryFiles(deps: HistoryFilesDeps): Promise<HistoryFiles> {
  const lock = await lockJournal(deps.path, deps.onLost, historySetting)
  try {
    return await openLocked(deps, lock)
  } catch (error) {
    await lock.release()
    throw unusable(error, historySetting)
  }
}

async function openLocked(deps: HistoryFilesDeps, lock: JournalLock): Promise<HistoryFiles> {
  const { path } = lock
  const full = await listSegments(path)
  let newest: Segment = { path, firstSeq: await assertUnbroken(full, deps.binding) }
  let lastLine: JournalLine | undefined
  const report = await readSegment(newest, deps.binding, (line) => {
    lastLine = line
  })
  let fullBytes = 0
  for (const each of full) fullBytes += (await stat(each.path)).size
  const file = await openNewest(path)
  await syncFolder(dirname(path))
  if (report.tornBytes > 0) await file.truncate(report.bytes).then(() => file.sync())
  let place = createPlace(path, file)
  const tail: FileTail = createFileTail({ file, bytes: report.bytes, nextSeq: 0 }, () => {
    lock.assertHeld()
    place.assertKept(tail.durableBytes())
  })
  let nextSeq = newest.firstSeq + report.records

  /** The name of a full file is free at once, and a crash may come before the next file has it. */
  async function rotate(): Promise<void> {
    const fullPath = segmentPath(path, newest.firstSeq)
    await tail.replace(async (bytes) => {
      if (!place.isReleased()) await rename(path, fullPath)
      place.release()
      newest = { ...newest, path: fullPath }
      const next = await openNext(path)
      place = createPlace(path, next)
      full.push(newest)
      fullBytes += bytes
      newest = { path, firstSeq: nextSeq }
      return { file: next, bytes: 0, nextSeq: 0 } satisfies JournalEnd
    })
    deps.onRotated?.(fullPath)
  }

  return {
    lastSeq: () => nextSeq - 1,
    lastRecord: lastLine && { seq: lastLine.seq, record: readRecord(lastLine) },
    bytes: () => fullBytes + tail.durableBytes(),
    tornBytes: report.tornBytes,
    async append(records) {
      if (tail.durableBytes() >= deps.fileBytesMax) await rotate()
      const bound = tail.durableBytes() === 0 ? [bindingFields(deps.binding)] : []
      const lines = [...bound, ...records.map(toFields)]
      await write(tail, Buffer.from(lines.map((fields, i) => encodeLine(nextSeq + i, fields)).join('')))
      const first = nextSeq + bound.length
      nextSeq += lines.length
      return first
    },
    async readBehind(seq, onPart) {
      const all = [...full, newest]
      for (const [i, segment] of all.entries()) {
        const endSeq = all[i + 1]?.firstSeq ?? nextSeq
        if (endSeq <= seq + 1 && i < full.length) continue
        const { records } = await readRecords(segment, deps.binding, seq, onPart)
        if (segment.firstSeq + records < endSeq) {
          throw broken(segment.path, `it ends with record ${segment.firstSeq + records - 1} of ${endSeq - 1}`)
        }
      }
    },
    async close() {
      await tail.close()
      await lock.release()
    },
  }
}

const openNewest = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDWR | constants.O_CREAT, 0o600)

/** The file that takes the name of a full one: empty, and there after a power failure. */
async function openNext(path: string): Promise<FileHandle> {
  const file = await openNewest(path)
  try {
    if ((await file.stat()).size > 0) throw lost(path, 'was replaced by another file')
    await syncFolder(dirname(path))
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

async function write(tail: FileTail, bytes: Buffer): Promise<void> {
  try {
    await tail.makeReady()
    await tail.write(bytes)
    await tail.sync()
  } catch (error) {
    tail.distrustWritten()
    throw error
  }
}

/** Watches whether the file that is written still has its name: bytes of a file without a name are never read again. */
function createPlace(path: string, file: FileHandle) {
  const { dev, ino } = fstatSync(file.fd)
  let isReleased = false
  return {
    assertKept(bytes: number): void {
      if (isReleased) return
      const found = statSync(path, { throwIfNoEntry: false })
      if (!found) throw lost(path, 'was removed')
      if (found.dev !== dev || found.ino !== ino) throw lost(path, 'was replaced by another file')
      if (found.size < bytes) throw lost(path, 'was cut short')
    },
    /** The name was given up for the next file. */
    release(): void {
      isReleased = true
    },
    isReleased: () => isReleased,
  }
}

const lost = (path: string, what: string): SvcError =>
  new SvcError(
    'journal_lost',
    `${historySetting}: ${path} ${what} while the daemon was using it. Put it back and start again; if it is lost, the ` +
      'next start makes a new one of what the journal still knows',
  )
