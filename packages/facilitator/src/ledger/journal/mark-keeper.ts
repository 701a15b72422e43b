/** Writes the mark of a journal now and then, and at the end. */
import { isBefore, type JournalMark, readMark, writeMark } from './mark.js'

export type MarkKeeper = { close(): Promise<void> }

const markEveryMs = 10_000

/** `position` gives the journal's durable extent. `isNew` replaces a mark that is ahead of the journal. */
export function keepMark(path: string, position: () => JournalMark, isNew: boolean): MarkKeeper {
  let written: JournalMark | undefined
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    const mark = position()
    if (!isNew) written ??= await readMark(path)
    if (written && written.id === mark.id && !isBefore(written, mark)) return
    // A failure is passed over: a mark that lags behind still serves, and the next write comes soon.
    await writeMark(path, mark).then(
      () => {
        written = mark
      },
      () => undefined,
    )
  }
  const writeInTurn = () => {
    writing = writing.then(write)
    return writing
  }

  void writeInTurn()
  const timer = setInterval(() => void writeInTurn(), markEveryMs).unref()
  return {
    close() {
      clearInterval(timer)
      return writeInTurn()
    },
  }
}
