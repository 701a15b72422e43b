/** Database, journal and writer as one part, which runs in its own thread or, in memory, where it is asked. */
import { SvcError } from '@svc-zerc20/protocol'
import type { GroupSettings, Reply, Request } from '../group.js'
import { sql } from '../sql.js'
import { type OpenDatabase, openBeside, openInMemory, type TidyLimits } from './open-database.js'
import { createWriter } from './writer.js'

export type EngineOptions = {
  /** Where the journal is; absent for a ledger in memory. */
  readonly path?: string
  /** The operator goes on with files that may be an older copy. */
  readonly isCopyAccepted?: boolean
  readonly settings: GroupSettings
  readonly limits: TidyLimits
}

/** Figures of the store as of the newest group. */
export type EngineFigures = {
  /** Events of the ledger: the number of its newest one. */
  readonly records: number
  /** Bytes of the journal. */
  readonly bytes: number
  /** Groups that were synced since the start. */
  readonly syncs: number
  /** The disk refused a step, and has taken none since. */
  readonly failed: boolean
  /** The journal is gone from its place, and nothing is recorded any more. */
  readonly lost: boolean
}

export type Engine = {
  readonly id: string
  readonly report: OpenDatabase['report']
  readonly isCopy: boolean
  readonly connection: OpenDatabase['connection']
  run(requests: readonly Request[]): readonly Reply[]
  figures(): EngineFigures
  close(): void
}

/** How often the journal is looked for while nothing is written. */
const pollMs = 2_000

export function openEngine(
  { path, settings, limits, isCopyAccepted }: EngineOptions,
  onFailure: (err: unknown) => void,
): Engine {
  const database = path === undefined ? openInMemory() : openBeside(path, settings, limits, isCopyAccepted)
  const { id, report, isCopy, connection, journal } = database
  let syncs = 0
  let failed = false
  let lost = false
  const writer = createWriter({
    connection,
    journal,
    position: database.position,
    settings,
    onCommitted(position) {
      // A step without an event says nothing of the journal's disk.
      if (position.applied > database.position().applied) {
        syncs += 1
        failed = false
      }
      database.moveTo(position)
    },
    onFailure: failedWith,
  })

  function failedWith(err: unknown): void {
    failed = true
    const isLost = err instanceof SvcError && err.code === 'journal_lost'
    if (isLost && !lost) noteJournalLost()
    lost ||= isLost
    onFailure(err)
  }

  /** A daemon without traffic notices, too, that its journal is gone. */
  const looking = setInterval(() => {
    try {
      if (!lost) journal?.assertKept()
    } catch (err) {
      failedWith(err)
    }
  }, pollMs).unref()

  /** The journal file is gone: syncs the database itself from now on, and records that it is complete. */
  function noteJournalLost(): void {
    try {
      connection.exec('PRAGMA synchronous = FULL')
      connection.query(sql`UPDATE ledger SET state = 'no_journal'`)
    } catch (err) {
      onFailure(err)
    }
  }

  return {
    id,
    report,
    isCopy,
    connection,
    run(requests) {
      const replies = writer.run(requests)
      try {
        database.tidy()
      } catch (err) {
        // Nothing depends on it: it is tried again after the next group.
        onFailure(err)
      }
      return replies
    },
    figures: () => ({
      records: database.position().applied,
      bytes: journal?.bytes() ?? 0,
      syncs,
      failed,
      lost,
    }),
    close() {
      clearInterval(looking)
      database.close()
    },
  }
}
