/** The way of one process to the database: it takes time, may be cut, and processes die on it. */
import { SvcError } from '@svc-zerc20/protocol'
import type { Request, StepName } from '../../src/store/group.js'
import { ownLeases } from '../../src/store/lease.js'
import { createLeases } from '../../src/store/postgres/leases.js'
import type { Step } from '../../src/store/sql.js'
import { asStore, type Store } from '../../src/store/store.js'
import type { Database } from './database.js'
import type { Draws } from './draws.js'
import type { Process, Timeline } from './timeline.js'

export type StoreFaults = {
  /** Milliseconds of a round trip, at most. */
  storeDelayMs: number
  /** Share of steps that the store refuses, and of those that happen without an answer. */
  stepsRefused: number
  stepsUnanswered: number
  /** Share of steps at which the process that asked is killed, half of them before the step and half behind it. */
  killedAtSteps: number
  /** Share of steps that are decided on, and asked for only when the process has stood still for longer than a lease. */
  stoppedAtSteps: number
}

type LinkDeps = {
  readonly database: Database
  readonly process: Process
  readonly timeline: Timeline
  readonly draws: Draws
  readonly faults: StoreFaults
  /** The name of the process among those that share the database. Absent for one that is alone with it. */
  readonly holder?: string | undefined
  readonly kill: () => void
  readonly stop: () => void
  /** Hears of every step that happened. */
  readonly onStep: (name: StepName, args: readonly unknown[], outcome: unknown) => void
}

const lost = () => new SvcError('ledger_failed', 'the storage of the ledger does not answer')

export function linkTo(deps: LinkDeps): Store {
  const { database, process, timeline, draws, faults, holder } = deps
  /** Most questions, and their answers, are at once where they go: events are what a simulation costs. */
  const pauseMs = () => (draws.happens(0.3) ? draws.between(0, faults.storeDelayMs) : 0)

  /** Something is done at the database now, and its outcome is heard later. */
  function hear<T>(work: () => T, isHeard = true): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!process.isAlive()) return
      const later = (end: () => void) => timeline.soon(pauseMs(), () => process.wake(end))
      try {
        const value = work()
        later(isHeard ? () => resolve(value) : () => reject(lost()))
      } catch (error) {
        later(() => reject(error))
      }
    })
  }

  function run(request: Omit<Request, 'nowMs'>): Promise<unknown> {
    if (draws.happens(faults.stepsRefused)) {
      return hear(() => {
        throw new SvcError('ledger_failed', 'the disk is full')
      })
    }
    if (draws.happens(faults.stoppedAtSteps)) {
      deps.stop()
      return new Promise((resolve, reject) => process.wake(() => send(request).then(resolve, reject)))
    }
    return send(request)
  }

  function send(request: Omit<Request, 'nowMs'>): Promise<unknown> {
    const death = draws.happens(faults.killedAtSteps) ? draws.oneOf(['before', 'behind'] as const) : 'none'
    const nowMs = process.clock.now()
    const step = () => {
      const outcome = database.run({ ...request, nowMs })
      deps.onStep(request.name, request.args, outcome)
      return outcome
    }
    return new Promise((resolve, reject) => {
      if (!process.isAlive()) return
      // A process that stands still, or is dead, has sent its request all the same.
      timeline.soon(pauseMs(), () => {
        if (death === 'before') return deps.kill()
        hear(step, !draws.happens(faults.stepsUnanswered)).then(resolve, reject)
        if (death === 'behind') deps.kill()
      })
    })
  }

  const runAside = <T>(step: () => Step<T>): Promise<T> =>
    hear(() => database.ask(step()), !draws.happens(faults.stepsUnanswered))

  const leasesOf = (holder: string) =>
    createLeases({
      holder,
      look: async () => undefined,
      runAside,
      runLocked: runAside,
      onFailure(err) {
        // A statement that no database takes is a mistake of ours.
        if (!(err instanceof SvcError)) throw err
      },
      every(ms, act) {
        const repeat = async () => {
          for (;;) {
            // Seldom, so that more leases are lost, and because looks are what a simulation costs.
            await process.clock.sleep(2 * ms)
            act()
          }
        }
        void repeat()
        return () => undefined
      },
    })

  return asStore({
    id: 'simulated',
    report: { lines: 0, bytes: 0, tornBytes: 0 },
    isCopy: false,
    run,
    leases: holder === undefined ? ownLeases : leasesOf(holder),
    ask: (question) => hear(() => database.ask(question)),
    figures: () => ({ records: 0, bytes: 0, syncs: 0, failed: false, lost: false }),
    close: async () => undefined,
  })
}
