/** Opens a journal file: locks it, replays it, and on request writes it anew where that makes it shorter. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createJournal, type Journal } from './journal.js'
import { type Compaction, compactJournal, dropUnfinished } from './journal-compaction.js'
import type { JournalFields, JournalLine } from './journal-line.js'
import { lockJournal, unusable } from './journal-lock.js'
import { type ReplayReport, replayFile } from './journal-replay.js'
import { syncFolder } from './sync-folder.js'

export type OpenedJournal = {
  readonly journal: Journal
  readonly replay: ReplayReport
  /**
   * Replaces the file by a shorter one if it held much more than its state takes when it was opened; undefined if
   * it did not. Records are appended meanwhile as ever. When it throws, the old file stays in use.
   */
  compact(): Promise<Compaction | undefined>
  close(): Promise<void>
}

/** What the state of a journal takes. `take` is called at once or never; what it gives may be read much later. */
export type Shortened = {
  readonly recordsMin: number
  take(): Iterable<JournalFields>
  /** What was taken is needed no more, read or not. */
  release(): void
}

/** A file is written anew when at least this share of its records can go. */
const superfluousShareMin = 0.2

/**
 * `onRecord` gets every record in order; afterwards `shorten` says what the same state takes. Throws
 * `SvcError('journal_locked')` when another daemon has the file, `SvcError('journal_corrupt')` with the line number
 * when an earlier line is damaged, and `SvcError('journal_unusable')` when the file system refuses.
 */
export async function openJournal(deps: {
  path: string
  onRecord: (line: JournalLine) => void
  shorten: () => Shortened
  onFailure: (err: unknown) => void
}): Promise<OpenedJournal> {
  const lock = await lockJournal(deps.path, deps.onFailure)
  const closing = new AbortController()
  try {
    const replay = await replayFile(lock.path, deps.onRecord)
    await dropUnfinished(lock.path)
    const file = await open(lock.path, constants.O_RDWR | constants.O_CREAT, 0o600)
    if (replay.records === 0) await syncFolder(dirname(lock.path))
    if (replay.tornBytes > 0) await file.truncate(replay.bytes).then(() => file.sync())
    const journal = createJournal({
      file,
      bytes: replay.bytes,
      nextSeq: replay.records + 1,
      onFailure: deps.onFailure,
      assertHeld: lock.assertHeld,
    })
    let shorter = shorterThan(replay, deps.shorten())
    let compacting: Promise<Compaction> | undefined
    return {
      journal,
      replay,
      async compact() {
        if (shorter) {
          const { records, release } = shorter
          const { signal } = closing
          compacting = compactJournal({ path: lock.path, journal, replay, records, signal }).finally(release)
          shorter = undefined
        }
        return compacting
      },
      async close() {
        closing.abort()
        await compacting?.catch(() => undefined)
        shorter?.release()
        await journal.close()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw unusable(error)
  }
}

function shorterThan({ records }: ReplayReport, { recordsMin, take, release }: Shortened) {
  const superfluous = records - recordsMin
  const isWorthIt = superfluous > 0 && superfluous >= records * superfluousShareMin
  return isWorthIt ? { records: take(), release } : undefined
}
