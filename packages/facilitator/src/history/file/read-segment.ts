/** Reads one file of a history, from its beginning. */
import type { Address } from '@svc-zerc20/protocol'
import { fieldsOf, type JournalLine } from '../../ledger/journal/line.js'
import { type ReplayReport, replayFile } from '../../ledger/journal/replay.js'
import { corrupt } from '../../records/field.js'
import { address, integer } from '../../records/field-kinds.js'
import { eventRecord } from '../../records/record.js'
import type { NumberedRecord } from '../record.js'
import { eventIn, readRecord } from '../record-line.js'
import { historySetting, type Segment } from './segments.js'

/** The token whose payments a history holds. Every file begins with it: histories of two tokens must not mix. */
export type HistoryBinding = { readonly chainId: number; readonly token: Address }

const bindingRecord = eventRecord<{ readonly event: 'history_bound' } & HistoryBinding>('history_bound', {
  chainId: integer,
  token: address,
})

export const bindingFields = (binding: HistoryBinding) =>
  bindingRecord.toJson({ event: 'history_bound', ...binding })

/** Throws when the file is damaged, of a newer version, or of another token. */
export function readSegment(
  { path, firstSeq }: Segment,
  binding: HistoryBinding,
  onLine: (line: JournalLine) => void,
  afterRead?: () => Promise<void>,
): Promise<ReplayReport> {
  const read = (line: JournalLine) => {
    if (eventIn(line.text) === 'history_bound') assertSame(bindingRecord.fromJson(fieldsOf(line)), binding)
    else if (line.seq === firstSeq) throw corrupt('a file of the history begins with the token it belongs to')
    else onLine(line)
  }
  return replayFile(path, read, { name: `${historySetting}: ${path}`, firstSeq }, afterRead)
}

function assertSame(found: HistoryBinding, wanted: HistoryBinding): void {
  if (found.chainId === wanted.chainId && found.token === wanted.token) return
  throw corrupt(
    `it belongs to token ${found.token} on chain ${found.chainId}; give this network a history of its own`,
  )
}

/** Hands over the records behind one of them, a part at a time. */
export async function readRecords(
  segment: Segment,
  binding: HistoryBinding,
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
