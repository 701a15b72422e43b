/**
 * Reads every line of a history, and says what is damaged or missing. The daemon reads the middle of a full file only when
 * its index is made anew, so damage there can stay unseen for years, and one day there is no good copy left. Only reads, and
 * needs no lock: the daemon may go on writing meanwhile.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { type HistoryBinding, readHead } from './file/head.js'
import { readRecords } from './file/read-segment.js'
import { beginsWith, broken, listSegments, type Segment } from './file/segments.js'
import { type NumberedRecord, nonceIn } from './record.js'

export type VerifiedHistory = {
  readonly files: number
  readonly records: number
  readonly payments: number
  /** Bytes of a last line that is not whole. A start drops it; a daemon that runs may be about to end it. */
  readonly tornBytes: number
  /** The token of the history; undefined where there is none yet. */
  readonly binding: HistoryBinding | undefined
  /** One for each file that is damaged or missing, with the first line that is. */
  readonly problems: readonly string[]
}

export type VerifyDeps = {
  readonly path: string
  /** The token that the history has to belong to. Default: the one of its first file. */
  readonly binding?: HistoryBinding | undefined
  /** Called behind every file: how many were read, and how many records they have. */
  readonly onProgress: (files: number, records: number) => void
  /** Looks at the records in passing. What it says is a problem. */
  readonly inspect?: (records: readonly NumberedRecord[]) => Promise<readonly string[]>
}

/** Throws where the file system refuses. */
export async function verifyHistory(deps: VerifyDeps): Promise<VerifiedHistory> {
  const { path, onProgress } = deps
  const problems: string[] = []
  const order = createOrder()
  let { binding } = deps
  let [files, records, tornBytes] = [0, 0, 0]

  /** Returns the number of the line behind the file; undefined where it is damaged, so that nobody knows. */
  async function read(segment: Segment): Promise<number | undefined> {
    binding ??= (await readHead(segment.path))?.binding
    try {
      const report = await readRecords(segment, binding, 0, async (part) => {
        records += part.length
        if (problems.length === 0) problems.push(...order.problemsOf(part, segment.path))
        problems.push(...((await deps.inspect?.(part)) ?? []))
      })
      files += report.records > 0 ? 1 : 0
      tornBytes = report.tornBytes
      return segment.firstSeq + report.records
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      problems.push(error.message)
      return undefined
    } finally {
      onProgress(files, records)
    }
  }

  let due: number | undefined = 1
  // A running daemon may fill a file meanwhile, so the full ones are looked for again behind the last.
  let listed: Segment[] = []
  for (let behind = 0; ; ) {
    if (listed.length === 0) {
      const isLeft = ({ firstSeq }: Segment) => firstSeq > behind
      listed = (await listSegments(path)).filter(isLeft)
    }
    const next = listed.shift()
    if (!next) {
      const newest = await readHead(path)
      if (newest && newest.seq > (due ?? newest.seq) && (await hasSegment(path, due))) continue
      // Behind a damaged file the newest one counts from where it begins.
      const firstSeq = due ?? newest?.seq
      if (firstSeq !== undefined) await read({ path, firstSeq })
      return { files, records, payments: order.payments(), tornBytes, binding, problems }
    }
    if (due !== undefined && next.firstSeq !== due) {
      problems.push(broken(next.path, beginsWith(next.firstSeq, due)).message)
    }
    due = await read(next)
    if (tornBytes > 0) {
      problems.push(broken(next.path, 'its last line is damaged').message)
      due = undefined
      tornBytes = 0
    }
    behind = next.firstSeq
  }
}

const hasSegment = async (path: string, firstSeq: number | undefined): Promise<boolean> =>
  (await listSegments(path)).some((segment) => segment.firstSeq === firstSeq)

/** Bytes of a nonce that tell payments apart: so many are enough, and keep the memory of a long history small. */
const nonceHexDigits = 13

/** Whether every payment begins with its challenge: an index cannot be made of records without it. */
function createOrder() {
  const begun = new Set<number>()
  return {
    payments: () => begun.size,
    problemsOf(records: readonly NumberedRecord[], path: string): string[] {
      for (const { seq, record } of records) {
        const nonce = Number.parseInt(nonceIn(record).slice(-nonceHexDigits), 16)
        if (record.event === 'challenged') begun.add(nonce)
        else if (!begun.has(nonce)) {
          return [
            broken(path, `record ${seq} (${record.event}) comes before the challenge of its payment`).message,
          ]
        }
      }
      return []
    },
  }
}
