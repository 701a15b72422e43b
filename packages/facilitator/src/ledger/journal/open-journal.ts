/** Opens a journal file: locks it, replays it, and writes it anew on request. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { SvcError } from '@svc-zerc20/protocol'
import { syncFolder } from '../../system.js'
import { type Compaction, compactJournal, dropUnfinished, type JournalFolder } from './compaction.js'
import type { JournalExtent } from './compaction-due.js'
import { createJournalPlace } from './file-place.js'
import { createJournal, type Journal } from './journal.js'
import type { JournalFields, JournalLine } from './line.js'
import { lockJournal, unusable } from './lock.js'
import { type ReplayReport, replayFile } from './replay.js'

/** How often an idle journal looks whether its file is still there; a busy one looks at every write. */
const lookMs = 2_000

export type OpenedJournal = {
  /** The file itself, without symbolic links. */
  readonly path: string
  readonly journal: Journal
  readonly replay: ReplayReport
  /** The reason why the journal cannot be used any more, once its file is gone from its place. */
  lost(): SvcError | undefined
  /**
   * Replaces the file by a shorter one. Records are appended meanwhile. When it throws, the old file stays in use. One
   * replacement runs at a time.
   */
  compact(shorter: Shorter): Promise<Compaction>
  close(): Promise<void>
}

/** A shorter list of records with the meaning that the file had at the extent `held`. The list may be read much later. */
export type Shorter = {
  readonly held: JournalExtent
  readonly records: Iterable<JournalFields>
  /** The list is needed no more, read or not. */
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
  /** Called after the replay and before any change; throws when the daemon must not go on with this file. */
  assertUsable?: (path: string, replay: ReplayReport) => Promise<void>
  /** The folder's free space and sync, for writing the file anew. */
  folder?: JournalFolder
  /** The file is gone from its place: nothing will be recorded any more. Called once. */
  onLost?: (error: SvcError) => void
}): Promise<OpenedJournal> {
  const lock = await lockJournal(deps.path, deps.onFailure)
  const closing = new AbortController()
  try {
    const replay = await replayFile(lock.path, deps.onRecord)
    await deps.assertUsable?.(lock.path, replay)
    await dropUnfinished(lock.path)
    const file = await open(lock.path, constants.O_RDWR | constants.O_CREAT, 0o600)
    if (replay.records === 0) await syncFolder(dirname(lock.path))
    if (replay.tornBytes > 0) await file.truncate(replay.bytes).then(() => file.sync())
    const place = createJournalPlace(lock.path, file, (error) => {
      deps.onFailure(error)
      deps.onLost?.(error)
    })
    const journal: Journal = createJournal({
      file,
      bytes: replay.bytes,
      nextSeq: replay.records + 1,
      onFailure: deps.onFailure,
      assertHeld() {
        lock.assertHeld()
        place.assertKept(journal.stats().bytes)
      },
    })
    const looking = setInterval(() => {
      try {
        place.assertKept(journal.stats().bytes)
      } catch {
        clearInterval(looking)
      }
    }, lookMs).unref()
    let compacting: Promise<unknown> = Promise.resolve()
    return {
      path: lock.path,
      journal,
      replay,
      lost: place.lost,
      compact({ held, records, release }) {
        const { signal } = closing
        const compacted = compactJournal({
          path: lock.path,
          journal,
          held,
          records,
          onNextFile: place.expect,
          signal,
          ...(deps.folder && { folder: deps.folder }),
        })
          .finally(place.settle)
          .finally(release)
        compacting = compacted.catch(() => undefined)
        return compacted
      },
      async close() {
        closing.abort()
        clearInterval(looking)
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
