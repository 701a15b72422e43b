/**
 * The one writer of the database. Steps that wait are run as a group: decided and applied in one transaction, their lines
 * written to the journal and synced, and only then committed and answered. So a kill or a power failure at any point loses
 * nothing that anybody was told, and the database is never ahead of the journal.
 */
import { SvcError, type UnixSeconds } from '@svc-zerc20/protocol'
import { type GroupSettings, type Reply, type Request, runSteps } from '../group.js'
import type { JournalFile } from '../journal/file.js'
import { lineOf } from '../journal/line.js'
import { createRows } from '../rows/rows.js'
import { sql } from '../sql.js'
import type { Connection } from './sqlite.js'

/** The place that database and journal have reached together. */
export type Position = {
  /** The number of the newest event, and the checksum of its line. */
  readonly applied: number
  readonly crc: string
  /** The number of the last event before the journal file. */
  readonly base: number
}

export function createWriter(deps: {
  readonly connection: Connection
  /** Absent: nothing survives the process. */
  readonly journal?: Pick<JournalFile, 'append' | 'takeBack'> | undefined
  readonly position: () => Position
  readonly settings: GroupSettings
  readonly onCommitted: (position: Pick<Position, 'applied' | 'crc'>) => void
  readonly onFailure: (err: unknown) => void
}): { run(requests: readonly Request[]): readonly Reply[] } {
  const { connection, journal, settings } = deps
  const rows = createRows()

  /** Throws when nothing of the group happened. */
  function runGroup(requests: readonly Request[]): readonly Reply[] {
    const { applied: before, base, crc: lastCrc } = deps.position()
    const group = before - base + 2
    let lines = ''
    let crc = lastCrc
    let number = before - base + 1
    const onEvent = (at: UnixSeconds, json: string) => {
      number += 1
      const line = lineOf(number, at, json, group)
      lines += line.text
      crc = line.crc
    }

    connection.exec('BEGIN IMMEDIATE')
    let isWritten = false
    try {
      const { replies, applied } = connection.run(
        runSteps(requests, { applied: before, settings, rows, ...(journal && { onEvent }) }),
      )
      if (applied > before) {
        connection.query(sql`UPDATE ledger SET applied = ${applied}, applied_crc = ${crc}`)
        journal?.append(lines)
        isWritten = true
      }
      connection.exec('COMMIT')
      deps.onCommitted({ applied, crc })
      return replies
    } catch (error) {
      rollBack()
      rows.forgetAll()
      if (isWritten) journal?.takeBack()
      throw error
    }
  }

  /** A commit that was refused, by a full disk for example, has been rolled back already. */
  function rollBack(): void {
    try {
      connection.exec('ROLLBACK')
    } catch {
      // There is no transaction any more.
    }
  }

  /** A step that takes its group with it must not take the others: each is tried by itself. */
  function run(requests: readonly Request[]): readonly Reply[] {
    try {
      return runGroup(requests)
    } catch (error) {
      if (requests.length > 1) return requests.flatMap((request) => run([request]))
      if (error instanceof SvcError && error.code !== 'journal_lost') return [{ error }]
      deps.onFailure(error)
      return [{ error: new SvcError('ledger_failed', 'the ledger cannot be written', { cause: error }) }]
    }
  }

  return { run }
}
