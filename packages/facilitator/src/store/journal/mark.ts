/**
 * The mark of a ledger: a small file beside the journal, in no backup, that tells how far the ledger had come. With it a
 * start notices that journal and database were both put back from an older copy. It may lag behind, and is never ahead.
 */
import { readFileSync } from 'node:fs'
import { replaceFile } from './disk.js'

export type Mark = {
  /** The id of the ledger. */
  readonly id: string
  /** The number of its newest event. */
  readonly applied: number
}

const markFileOf = (journal: string): string => `${journal}.mark`

/** Undefined when there is no mark, or none that can be read: a mark is a warning and nothing more. */
export function readMark(journal: string): Mark | undefined {
  try {
    const { id, applied } = Object(JSON.parse(readFileSync(markFileOf(journal), 'utf8')))
    return typeof id === 'string' && Number.isSafeInteger(applied) ? { id, applied } : undefined
  } catch {
    return undefined
  }
}

const markEveryMs = 10_000

/** Writes the mark now and then, and at the end. A failure is passed over: the next write comes soon. */
export function keepMark(journal: string, position: () => Mark): { close(): Promise<void> } {
  let written = -1
  let writing: Promise<void> = Promise.resolve()
  const write = () => {
    writing = writing.then(async () => {
      const mark = position()
      if (mark.applied === written) return
      await replaceFile(markFileOf(journal), `${JSON.stringify(mark)}\n`).then(
        () => {
          written = mark.applied
        },
        () => undefined,
      )
    })
    return writing
  }
  void write()
  const timer = setInterval(() => void write(), markEveryMs).unref()
  return {
    close() {
      clearInterval(timer)
      return write()
    },
  }
}
