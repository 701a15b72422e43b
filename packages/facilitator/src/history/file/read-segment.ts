/** Reads one file of a history, from its beginning. */
import { SvcError } from '@svc-zerc20/protocol'
import type { JournalLine } from '../../ledger/journal/line.js'
import { type ReplayReport, replayFile } from '../../ledger/journal/replay.js'
import { corrupt } from '../../records/field.js'
import type { NumberedRecord } from '../record.js'
import { readRecord } from '../record-line.js'
import { type HistoryBinding, isBinding } from './head.js'
import { assertBegins, historySetting, type Segment, withHelp } from './segments.js'

/** Throws when the file is damaged, of a newer version, begins with another number, or is of another token. */
export async function readSegment(
  segment: Segment,
  binding: HistoryBinding | undefined,
  onLine: (line: JournalLine) => void,
  afterRead?: () => Promise<void>,
): Promise<ReplayReport> {
  const { path, firstSeq } = segment
  await assertBegins(segment, binding)
  const read = (line: JournalLine) => {
    if (line.seq > firstSeq) onLine(line)
    else if (!isBinding(line.text)) throw corrupt('a file of the history begins with the token it belongs to')
  }
  try {
    return await replayFile(path, read, { name: `${historySetting}: ${path}`, firstSeq }, afterRead)
  } catch (error) {
    throw error instanceof SvcError && error.code === 'journal_corrupt' ? withHelp(error) : error
  }
}

/** Hands over the records behind one of them, a part at a time. */
export async function readRecords(
  segment: Segment,
  binding: HistoryBinding | undefined,
  behind: number,
  onPart: (records: readonly NumberedRecord[]) => Promise<void>,
): Promise<ReplayReport> {
  let part: NumberedRecord[] = []
  const onLine = (line: JournalLine) => {
    if (line.seq > behind) part.push({ seq: line.seq, record: readRecord(line) })
  }
  return readSegment(segment, binding, onLine, async () => {
    const read = part
    part = []
    if (read.length > 0) await onPart(read)
  })
}
