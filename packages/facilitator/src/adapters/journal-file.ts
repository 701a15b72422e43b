/** Opens a journal file: locks it, replays it, and writes it anew when it is told what its state takes. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createJournal, type Journal } from './journal.js'
import { type Compaction, compactJournal, dropUnfinished } from './journal-compaction.js'
import type { JournalExtent } from './journal-growth.js'
import type { JournalFields, JournalLine } from './journal-line.js'
import { lockJournal, unusable } from './journal-lock.js'
import { type ReplayReport, replayFile } from './journal-replay.js'
import { syncFolder } from './sync-folder.js'

export type OpenedJournal = {
  readonly journal: Journal
  readonly replay: ReplayReport
  /**
   * Replaces the file by a shorter one, one at a time. Records are appended meanwhile as ever. When it throws, the old
   * file stays in use.
   */
  compact(shorter: Shorter): Promise<Compaction>
  close(): Promise<void>
}

/** What says the same as a file did when it held so much. It may be read much later. */
export type Shorter = {
  readonly held: JournalExtent
  readonly records: Iterable<JournalFields>
  /** The records are needed no more, read or not. */
  release(): void
}

/**
 * `onRecord` gets every record in order. Throws `SvcError('journal_locked')` when another daemon has the file,
 * `SvcError('journal_corrupt')` with the line number when an earlier line is damaged, `SvcError('journal_newer')` when a
 * newer version wrote a line, and `SvcError('journal_unusable')` when the file system refuses.
 */
export async function openJournal(deps: {
  path: string
  onRecord: (line: JournalLine) => void
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
    let compacting: Promise<unknown> = Promise.resolve()
    return {
      journal,
      replay,
      compact({ held, records, release }) {
        const { signal } = closing
        const compacted = compactJournal({ path: lock.path, journal, held, records, signal }).finally(release)
        compacting = compacted.catch(() => undefined)
        return compacted
      },
      async close() {
        closing.abort()
        await compacting
        await journal.close()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw unusable(error)
  }
}
