/** Opens a journal file: locks it, replays it, and writes it anew where that makes it shorter. */
import { constants, createReadStream, existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { createJournal, type Journal } from './journal.js'
import { decodeLine, encodeLine, type JournalFields } from './journal-line.js'
import { lockJournal, unusable } from './journal-lock.js'

export type ReplayReport = {
  readonly records: number
  /** Of the records alone. */
  readonly bytes: number
  /** The last line was torn by a crash; what it would have said was never acknowledged. */
  readonly tornBytes: number
}

export type OpenedJournal = {
  readonly journal: Journal
  readonly replay: ReplayReport
  close(): Promise<void>
}

/** A file is written anew when at least this share of its records can go. */
const superfluousShareMin = 0.2

/**
 * `onRecord` gets every record in order; afterwards `compact` says what the same state takes, and a file that
 * holds much more than that is replaced by it in one step. Throws `SvcError('journal_locked')` when another
 * daemon has the file, `SvcError('journal_corrupt')` with the line number when an earlier line is damaged, and
 * `SvcError('journal_unusable')` when the file system refuses.
 */
export async function openJournal(deps: {
  path: string
  onRecord: (fields: JournalFields) => void
  compact: () => { readonly recordsMin: number; readonly records: Iterable<JournalFields> }
  onFailure: (err: unknown) => void
}): Promise<OpenedJournal> {
  const lock = await lockJournal(deps.path)
  try {
    const replay = await replayFile(lock.path, deps.onRecord)
    const { file, ...end } = await openAtEnd(lock.path, replay, deps.compact())
    const journal = createJournal({ file, ...end, onFailure: deps.onFailure })
    return {
      journal,
      replay,
      async close() {
        await journal.close()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw unusable(error)
  }
}

async function openAtEnd(
  path: string,
  replay: ReplayReport,
  { recordsMin, records }: { recordsMin: number; records: Iterable<JournalFields> },
): Promise<{ file: FileHandle; bytes: number; nextSeq: number }> {
  const isShort = replay.records - recordsMin < replay.records * superfluousShareMin
  if (isShort) {
    const file = await open(path, constants.O_RDWR)
    if (replay.tornBytes > 0) await file.truncate(replay.bytes).then(() => file.sync())
    return { file, bytes: replay.bytes, nextSeq: replay.records + 1 }
  }
  const end = await writeAnew(path, records)
  return { file: await open(path, constants.O_RDWR), ...end }
}

/** Reads a journal without locking or changing it. */
export async function replayFile(
  path: string,
  onRecord: (fields: JournalFields) => void,
): Promise<ReplayReport> {
  if (!existsSync(path)) return { records: 0, bytes: 0, tornBytes: 0 }
  const reader = createRecordReader(onRecord)
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of createReadStream(path, { highWaterMark: readChunkBytes })) {
    const bytes: Buffer = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let start = 0
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      reader.read(bytes.toString('utf8', start, end))
      start = end + 1
    }
    rest = bytes.subarray(start)
  }
  // Without its newline a line was never acknowledged, whatever it says.
  return reader.end(rest.toString('utf8'))
}

const newline = 0x0a
/** Small, so that reading a large journal leaves no large heap behind. */
const readChunkBytes = 1 << 16

/**
 * A damaged line is forgiven only at the very end: there a crash tore it before it was acknowledged. Anywhere
 * else it would be a payment that everyone was told about.
 */
function createRecordReader(onRecord: (fields: JournalFields) => void) {
  let number = 0
  let records = 0
  let bytes = 0
  let damaged: { readonly line: number; readonly why: string; readonly bytes: number } | undefined

  const stop = (line: number, why: string) =>
    new SvcError('journal_corrupt', `settlement.journal: line ${line} is damaged: ${why}`)

  return {
    read(line: string): void {
      number += 1
      if (damaged) throw stop(damaged.line, damaged.why)
      const decoded = decodeLine(line)
      if (!decoded.ok) {
        damaged = { line: number, why: decoded.message, bytes: Buffer.byteLength(line) + 1 }
        return
      }
      const { seq, fields } = decoded.value
      if (seq !== records + 1) {
        throw stop(number, `it has the sequence number ${seq}, ${records + 1} was due`)
      }
      try {
        onRecord(fields)
      } catch (error) {
        throw stop(number, (error as Error).message)
      }
      records += 1
      bytes += Buffer.byteLength(line) + 1
    },
    end(rest: string): ReplayReport {
      if (damaged && rest !== '') throw stop(damaged.line, damaged.why)
      return { records, bytes, tornBytes: (damaged?.bytes ?? 0) + Buffer.byteLength(rest) }
    },
  }
}

const writeChunkBytes = 1 << 20

/** The new file is complete on the disk before it takes the old one's name: a crash leaves one or the other. */
async function writeAnew(
  path: string,
  records: Iterable<JournalFields>,
): Promise<{ bytes: number; nextSeq: number }> {
  const temporary = `${path}.new`
  await rm(temporary, { force: true })
  const file = await open(temporary, 'wx', 0o600)
  let bytes = 0
  let nextSeq = 1
  try {
    let chunk = ''
    for (const fields of records) {
      chunk += encodeLine(nextSeq, fields)
      nextSeq += 1
      if (chunk.length < writeChunkBytes) continue
      bytes += await writeText(file, chunk)
      chunk = ''
    }
    bytes += await writeText(file, chunk)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  const folder = await open(dirname(path), 'r')
  await folder.sync().finally(() => folder.close())
  return { bytes, nextSeq }
}

async function writeText(file: FileHandle, text: string): Promise<number> {
  const bytes = Buffer.from(text)
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, offset)
    if (bytesWritten === 0) throw new Error('the disk takes no more bytes')
    offset += bytesWritten
  }
  return bytes.length
}
