/**
 * Brings the index up to the files: after a crash a few records are missing, and in an empty index all of them. Memory
 * holds a part of the files at a time.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { NumberedRecord } from '../file/read-segment.js'
import type { HistoryPayment } from '../payment.js'
import { fold, nonceIn } from '../record.js'
import type { HistoryIndex } from './history-index.js'
import { indexLimits } from './limits.js'

/** The files of the history, as far as the index needs them. */
export type ReadFiles = {
  /** The number of the newest line. */
  lastSeq(): number
  /** The newest record, where it is known without reading the files. */
  readonly lastRecord: NumberedRecord | undefined
  /** Hands over the records behind this number, oldest first, a part at a time. */
  readBehind(seq: number, onPart: (records: readonly NumberedRecord[]) => Promise<void>): Promise<void>
}

type FollowFilesDeps = {
  readonly index: Pick<HistoryIndex, 'views' | 'put' | 'indexedSeq' | 'reset'>
  readonly files: ReadFiles
  /** Called now and then while many records are put in: the number of the newest one, and of the last one. */
  readonly onProgress: (seq: number, lastSeq: number) => void
  readonly limits?: Pick<typeof indexLimits, 'recordsPerWrite' | 'progressEveryRecords'>
}

/** Returns how many records the index lacked. */
export async function followFiles(deps: FollowFilesDeps): Promise<number> {
  const { index, files } = deps
  const { lastRecord } = files
  // After an orderly end nothing is missing, and the files are not read once more.
  if (lastRecord?.seq === index.indexedSeq() && (await hasTurn(index, lastRecord))) return 0
  if (index.indexedSeq() > files.lastSeq()) await index.reset()
  const added = await readOn(deps)
  if (added !== 'other_files') return added
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

function createWriter({ index, files, onProgress, limits = indexLimits }: FollowFilesDeps) {
  let added = 0
  let told = 0
  return {
    added: () => added,
    async put(records: readonly NumberedRecord[]): Promise<void> {
      await putRecords(index, records)
      added += records.length
      if (added - told < limits.progressEveryRecords) return
      told = added
      onProgress(index.indexedSeq(), files.lastSeq())
    },
  }
}

async function hasTurn(index: FollowFilesDeps['index'], { seq, record }: NumberedRecord): Promise<boolean> {
  const [payment] = await index.views([nonceIn(record)])
  return payment?.turns.some((turn) => turn.seq === seq && turn.kind === record.event) ?? false
}

async function putRecords(
  index: FollowFilesDeps['index'],
  records: readonly NumberedRecord[],
): Promise<void> {
  const nonces = [...new Set(records.map(({ record }) => nonceIn(record)))]
  const known = await index.views(nonces)
  const before = new Map(nonces.map((nonce, i) => [nonce, known[i]]))
  const after = new Map<ChallengeNonce, HistoryPayment>()
  for (const { seq, record } of records) {
    const nonce = nonceIn(record)
    after.set(nonce, fold(after.get(nonce) ?? before.get(nonce), record, seq))
  }
  const changes = [...after].map(([nonce, payment]) => {
    const view = before.get(nonce)
    return { ...(view && { before: view }), after: payment }
  })
  await index.put(changes, records.at(-1)?.seq ?? index.indexedSeq())
}
