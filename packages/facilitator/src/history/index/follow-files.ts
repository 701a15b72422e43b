/**
 * Brings the index up to the files: after a crash a few records are missing, and in an empty index all of them. Memory
 * holds a part of the files at a time.
 */
import { changesBy } from '../change.js'
import type { HistoryFiles } from '../file/history-files.js'
import { hasTurnOf } from '../payment.js'
import { type NumberedRecord, nonceIn } from '../record.js'
import type { HistoryIndex } from './history-index.js'
import { indexLimits } from './limits.js'

/** The files of the history, as far as the index needs them. */
export type FollowedFiles = Pick<HistoryFiles, 'lastSeq' | 'lastRecord' | 'readBehind'>

type FollowFilesDeps = {
  readonly index: Pick<HistoryIndex, 'payments' | 'put' | 'indexedSeq' | 'reset'>
  readonly files: FollowedFiles
  /** Called now and then while many records are put in: the number of the newest one, and of the last one. */
  readonly onProgress: (seq: number, lastSeq: number) => void
  /** The files are not those that the index was made of. It had more records than they have, or others. */
  readonly onOtherFiles?: (indexedSeq: number) => void
  /** Throws between two writes once the signal says so. */
  readonly signal?: AbortSignal | undefined
  readonly limits?: Pick<typeof indexLimits, 'recordsPerWrite' | 'progressEveryRecords'>
}

/** Returns how many records the index lacked. */
export async function followFiles(deps: FollowFilesDeps): Promise<number> {
  const { index, files, onOtherFiles = () => undefined } = deps
  const { lastRecord } = files
  const indexed = index.indexedSeq()
  // After an orderly end nothing is missing, and the files are not read once more.
  const isComplete = lastRecord?.seq === indexed && indexed === files.lastSeq()
  if (isComplete && (await hasTurn(index, lastRecord))) return 0
  const added = indexed > files.lastSeq() ? 'other_files' : await readOn(deps)
  if (added !== 'other_files') return added
  onOtherFiles(indexed)
  await index.reset()
  const all = await readOn(deps)
  return all === 'other_files' ? 0 : all
}

/** The last record of the index is read again, because only then it is known to come from these files. */
async function readOn(deps: FollowFilesDeps): Promise<number | 'other_files'> {
  const { index, files, limits = indexLimits } = deps
  const indexed = index.indexedSeq()
  let isSame = indexed === 0
  let waiting: NumberedRecord[] = []
  const writer = createWriter(deps)
  await files.readBehind(Math.max(0, indexed - 1), async (part) => {
    const [first] = part
    if (first?.seq === indexed) isSame = await hasTurn(index, first)
    if (!isSame) return
    waiting.push(...part.filter(({ seq }) => seq > indexed))
    for (; waiting.length >= limits.recordsPerWrite; waiting = waiting.slice(limits.recordsPerWrite)) {
      await writer.put(waiting.slice(0, limits.recordsPerWrite))
    }
  })
  if (waiting.length > 0) await writer.put(waiting)
  return isSame ? writer.added() : 'other_files'
}

function createWriter({ index, files, onProgress, signal, limits = indexLimits }: FollowFilesDeps) {
  let added = 0
  let told = 0
  return {
    added: () => added,
    async put(records: readonly NumberedRecord[]): Promise<void> {
      signal?.throwIfAborted()
      await putRecords(index, records)
      added += records.length
      if (added - told < limits.progressEveryRecords) return
      told = added
      onProgress(index.indexedSeq(), files.lastSeq())
    },
  }
}

async function hasTurn(index: FollowFilesDeps['index'], { seq, record }: NumberedRecord): Promise<boolean> {
  const nonce = nonceIn(record)
  return hasTurnOf((await index.payments([nonce])).get(nonce), { seq, kind: record.event })
}

async function putRecords(
  index: FollowFilesDeps['index'],
  records: readonly NumberedRecord[],
): Promise<void> {
  const known = await index.payments(records.map(({ record }) => nonceIn(record)))
  await index.put(changesBy(records, known), records.at(-1)?.seq ?? index.indexedSeq())
}
