/**
 * The one writer of the database. Steps that wait are run as a group: decided and applied in one transaction, their lines
 * written to the journal and synced, and only then committed and answered. So a kill or a power failure at any point loses
 * nothing that anybody was told, and the database is never ahead of the journal.
 */
import { SvcError, type UnixSeconds } from '@svc-zerc20/protocol'
import { apply, type KeepSigned } from '../apply.js'
import type { LedgerEvent } from '../events.js'
import type { JournalFile } from '../journal/file.js'
import { lineOf } from '../journal/line.js'
import { createRows } from '../rows/rows.js'
import { type Step, sql } from '../sql.js'
import { doubtSteps } from '../steps/doubt.js'
import { operatorSteps } from '../steps/operator-steps.js'
import { scheduleSteps } from '../steps/schedule-steps.js'
import type { StepContext, StepSettings } from '../steps/step-context.js'
import { ledgerSteps } from '../steps/steps.js'
import { sweepSteps } from '../steps/sweep-steps.js'
import { transferSteps } from '../steps/transfer-steps.js'
import { encode } from '../stored.js'
import type { Connection } from './sqlite.js'

export const steps: typeof ledgerSteps &
  typeof sweepSteps &
  typeof transferSteps &
  typeof operatorSteps &
  typeof scheduleSteps &
  typeof doubtSteps = {
  ...ledgerSteps,
  ...sweepSteps,
  ...transferSteps,
  ...operatorSteps,
  ...scheduleSteps,
  ...doubtSteps,
}
export type Steps = typeof steps
export type StepName = keyof Steps

/** A step that waits, and the time at which it was asked for. */
export type Request = { readonly name: StepName; readonly args: readonly unknown[]; readonly nowMs: number }

export type Reply = { readonly value: unknown } | { readonly error: unknown }

export type Writer = {
  run(requests: readonly Request[]): readonly Reply[]
  /** The number of the newest event. */
  applied(): number
}

export type WriterSettings = { readonly steps: StepSettings; readonly keepSigned: KeepSigned }

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
  readonly settings: WriterSettings
  readonly onCommitted: (position: Pick<Position, 'applied' | 'crc'>) => void
  readonly onFailure: (err: unknown) => void
}): Writer {
  const { connection, journal, settings } = deps
  const rows = createRows()

  /** Throws when nothing of the group happened. */
  function runGroup(requests: readonly Request[]): readonly Reply[] {
    let { applied, crc, base } = deps.position()
    const group = applied - base + 2
    let lines = ''
    /** Events that were begun, and may have changed rows. */
    let begun = 0

    function* record(at: UnixSeconds, event: LedgerEvent): Step<void> {
      begun += 1
      const json = encode(event)
      yield* apply(event, applied + 1, { at, keep: settings.keepSigned, rows }, json)
      applied += 1
      if (!journal) return
      const line = lineOf(applied - base + 1, at, json, group)
      lines += line.text
      crc = line.crc
    }

    function reply({ name, args, nowMs }: Request): Reply {
      const now = Math.floor(nowMs / 1000) as UnixSeconds
      const context: StepContext = {
        ...{ now, settings: settings.steps, rows },
        record: (event) => record(now, event),
      }
      const before = begun
      try {
        const step = steps[name] as (context: StepContext, ...args: readonly unknown[]) => Step<unknown>
        return { value: connection.run(step(context, ...args)) }
      } catch (error) {
        // A step throws before it writes. One that wrote takes the group with it.
        if (begun !== before || !(error instanceof SvcError)) throw error
        return { error }
      }
    }

    connection.exec('BEGIN IMMEDIATE')
    let isWritten = false
    try {
      const replies = requests.map(reply)
      if (begun > 0) {
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
      return [{ error: new SvcError('journal_failed', 'the ledger cannot be written', { cause: error }) }]
    }
  }

  return { run, applied: () => deps.position().applied }
}
