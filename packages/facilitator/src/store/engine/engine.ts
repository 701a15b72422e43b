/** Database, journal and writer as one part, which runs in a thread of its own or, in memory, where it is asked. */
import { type OpenDatabase, openBeside, openInMemory, type TidyLimits } from './open-database.js'
import { createWriter, type Reply, type Request, type WriterSettings } from './writer.js'

export type EngineOptions = {
  /** Where the journal is; absent for a ledger in memory. */
  readonly path?: string
  /** The operator goes on with files that may be an older copy. */
  readonly isAccepted?: boolean
  readonly settings: WriterSettings
  readonly limits: TidyLimits
}

/** Figures of the store as of the newest group. */
export type EngineFigures = {
  readonly applied: number
  readonly journalBytes: number
  /** Groups that were synced since the start. */
  readonly syncs: number
  /** The disk refused a step, and has taken none since. */
  readonly failed: boolean
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

export function openEngine(
  { path, settings, limits, isAccepted }: EngineOptions,
  onFailure: (err: unknown) => void,
): Engine {
  const database = path === undefined ? openInMemory() : openBeside(path, settings, limits, isAccepted)
  const { id, report, isCopy, connection, journal } = database
  let syncs = 0
  let failed = false
  const writer = createWriter({
    connection,
    journal,
    position: database.position,
    settings,
    onCommitted(position) {
      if (position.applied > database.position().applied) syncs += 1
      database.moveTo(position)
      failed = false
    },
    onFailure(err) {
      failed = true
      onFailure(err)
    },
  })
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
      applied: database.position().applied,
      journalBytes: journal?.bytes() ?? 0,
      syncs,
      failed,
    }),
    close: database.close,
  }
}
