/** Records on their way to the disk, in order: first they wait to be written, then they wait for a sync. */
import type { SvcError } from '@svc-zerc20/protocol'
import { sealLine } from './line.js'

type Waiting = {
  readonly json: string
  readonly done: () => void
  readonly failed: (error: SvcError) => void
}

export type RecordQueue = {
  /** Resolves when the record is acknowledged; rejects when the queue fails. */
  add(json: string): Promise<void>
  /** The promise of the newest record. Records are written in order, so that all earlier ones end before it. */
  last(): Promise<void>
  hasWaiting(): boolean
  /** How many records are written and not acknowledged. */
  writtenCount(): number
  /** All waiting records as lines with their sequence numbers. From now on they count as written. */
  takeWaiting(): Buffer
  /** The oldest `count` written records are durable. */
  acknowledge(count: number): void
  /** Rejects every record. The next records get the sequence numbers of the lost ones, so that the file has no gap. */
  failAll(error: SvcError): void
  /** The next record gets this sequence number: the file was replaced. No record may be written and unacknowledged. */
  continueAt(nextSeq: number): void
  /** How many records the file holds durably. */
  heldCount(): number
}

export function createRecordQueue(firstSeq: number): RecordQueue {
  let nextSeq = firstSeq
  let waiting: Waiting[] = []
  let written: Waiting[] = []
  let last: Promise<void> = Promise.resolve()
  return {
    add(json) {
      last = new Promise((done, failed) => {
        waiting.push({ json, done, failed })
      })
      // The caller of `add` hears of a failure. Without this line, a failure that nobody awaits would end the process.
      last.catch(() => undefined)
      return last
    },
    last: () => last,
    hasWaiting: () => waiting.length > 0,
    writtenCount: () => written.length,
    takeWaiting() {
      const batch = waiting
      waiting = []
      written.push(...batch)
      // Records get their numbers only now: until here the file could be replaced by a shorter one.
      const lines = batch.map(({ json }, i) => sealLine(nextSeq + i, json))
      nextSeq += batch.length
      return Buffer.from(lines.join(''))
    },
    acknowledge(count) {
      const batch = written.slice(0, count)
      written = written.slice(count)
      for (const { done } of batch) done()
    },
    failAll(error) {
      nextSeq -= written.length
      const lost = [...written.splice(0), ...waiting.splice(0)]
      for (const { failed } of lost) failed(error)
    },
    continueAt(seq) {
      nextSeq = seq
    },
    heldCount: () => nextSeq - 1 - written.length,
  }
}
