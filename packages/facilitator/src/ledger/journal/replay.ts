/** Reads a journal file from its beginning, and judges damaged lines. */
import { type FileHandle, open } from 'node:fs/promises'
import { SvcError } from '@svc-zerc20/protocol'
import { decodeLine, type JournalLine } from './line.js'

export type ReplayReport = {
  readonly records: number
  /** Bytes of the records, without a torn line. */
  readonly bytes: number
  /** Bytes of a last line that a crash tore. Nobody was told of that record. */
  readonly tornBytes: number
}

const newline = 0x0a
/** The size of the read buffer: small, so that a large journal leaves no large heap behind. A longer line makes it grow. */
const readBytes = 1 << 18

/** A file in the format of the journal: its name in errors, and the number of its first record. */
export type ReplayedFile = { readonly name: string; readonly firstSeq: number }

const theJournal: ReplayedFile = { name: 'settlement.journal', firstSeq: 1 }

/** Reads a journal without locking or changing it. `afterRead` is awaited now and then, so that it can use what was read. */
export async function replayFile(
  path: string,
  onRecord: (line: JournalLine) => void,
  replayed = theJournal,
  afterRead?: () => Promise<void>,
): Promise<ReplayReport> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!file) return { records: 0, bytes: 0, tornBytes: 0 }
  const reader = createRecordReader(onRecord, replayed)
  try {
    // A line without its newline was never acknowledged.
    return reader.end(await readLines(file, 0, Number.POSITIVE_INFINITY, reader.read, afterRead))
  } finally {
    await file.close()
  }
}

/**
 * Hands over every line between two places of a file, without its newline. The bytes of a line are overwritten after the
 * call. Returns the number of bytes behind the last newline.
 */
export async function readLines(
  file: FileHandle,
  from: number,
  to: number,
  onLine: (line: Buffer) => void,
  afterRead?: () => Promise<void>,
): Promise<number> {
  let buffer = Buffer.allocUnsafeSlow(readBytes)
  let position = from
  let held = 0
  for (;;) {
    if (held === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
    const length = Math.min(buffer.length - held, to - position)
    const { bytesRead } = length > 0 ? await file.read(buffer, held, length, position) : { bytesRead: 0 }
    if (bytesRead === 0) return held
    position += bytesRead
    const filled = buffer.subarray(0, held + bytesRead)
    let start = 0
    for (let end = filled.indexOf(newline, held); end !== -1; end = filled.indexOf(newline, start)) {
      onLine(filled.subarray(start, end))
      start = end + 1
    }
    filled.copyWithin(0, start)
    held = filled.length - start
    await afterRead?.()
  }
}

/**
 * Judges lines in order. A damaged line is passed over only at the very end of the file, where a crash tore it before it
 * was acknowledged. Anywhere else it would be a payment that people were told of, and it stops the start. So does a line
 * with a good checksum that cannot be understood, because no crash tore it.
 */
function createRecordReader(onRecord: (line: JournalLine) => void, { name, firstSeq }: ReplayedFile) {
  let number = 0
  let records = 0
  let bytes = 0
  let damaged: { readonly line: number; readonly why: string; readonly bytes: number } | undefined

  const stop = (line: number, why: string) =>
    new SvcError('journal_corrupt', `${name}: line ${line} is damaged: ${why}`)

  function understood<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      const { code, message } = error as SvcError
      throw code === 'journal_newer' ? newer(name, number, message) : stop(number, message)
    }
  }

  return {
    read(line: Buffer): void {
      number += 1
      if (damaged) throw stop(damaged.line, damaged.why)
      const decoded = understood(() => decodeLine(line))
      if (!decoded.ok) {
        damaged = { line: number, why: decoded.message, bytes: line.length + 1 }
        return
      }
      const { seq } = decoded.value
      const due = firstSeq + records
      if (seq !== due) throw stop(number, `it has the sequence number ${seq}, ${due} was due`)
      understood(() => onRecord(decoded.value))
      records += 1
      bytes += line.length + 1
    },
    end(restBytes: number): ReplayReport {
      if (damaged && restBytes > 0) throw stop(damaged.line, damaged.why)
      return { records, bytes, tornBytes: (damaged?.bytes ?? 0) + restBytes }
    },
  }
}

const newer = (name: string, line: number, why: string) =>
  new SvcError(
    'journal_newer',
    `${name}: line ${line} was written by a newer version of this program: ${why}. Nothing was changed; run that version, or a later one`,
  )
