/** The store as the daemon uses it: steps that change it, and questions to what is durable. */
import { Worker } from 'node:worker_threads'
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import { type Engine, type EngineFigures, type EngineOptions, openEngine } from './engine/engine.js'
import { errorOf, type FromEngine, type ToEngine, threadFile } from './engine/engine-messages.js'
import { databaseOf } from './engine/open-database.js'
import { type Connection, openSqlite } from './engine/sqlite.js'

import type { StepArgs, StepName, StepResult } from './group.js'
import type { Step } from './sql.js'
import { createWaiting } from './waiting.js'

export type Store = Pick<Engine, 'id' | 'report' | 'isCopy'> & {
  /**
   * Runs a step. Resolves when its outcome is durable; throws `SvcError('journal_failed')` when the disk refuses, or does
   * not answer in time. Then the step may still happen: the same payload again gets the answer.
   */
  change<Name extends StepName>(name: Name, ...args: StepArgs<Name>): Promise<StepResult<Name>>
  ask<T>(question: Step<T>): Promise<T>
  figures(): EngineFigures
  close(): Promise<void>
}

export type StoreOptions = EngineOptions & {
  readonly clock: Pick<Clock, 'now'>
  readonly onFailure: (err: unknown) => void
  /** How long a step waits for a disk that does not answer. */
  readonly waitMs: number
}

/** A store whose engine runs in this thread: one in memory, or one whose disk may make everybody wait. */
export function openHere({ clock, onFailure, ...options }: StoreOptions): Store {
  const engine = openEngine(options, onFailure)
  return closable({
    ...engine,
    async change(name, ...args) {
      const [reply] = engine.run([{ name, args, nowMs: clock.now() }])
      if (!reply || 'error' in reply) throw reply?.error
      return reply.value as never
    },
    ask: async (question) => engine.connection.run(question),
    close: async () => engine.close(),
  })
}

/** A closed store refuses steps, and may be closed again. */
export function closable(store: Store): Store {
  let closing: Promise<void> | undefined
  return {
    ...store,
    async change(name, ...args) {
      if (closing) throw new SvcError('journal_failed', 'the ledger is closed')
      return store.change(name, ...args)
    },
    close() {
      closing ??= store.close()
      return closing
    },
  }
}

/** A store with a thread of its own: whoever waits for a slow disk gets an answer in time, and nobody else waits. */
export async function openInThread({
  clock,
  onFailure,
  waitMs,
  ...options
}: StoreOptions & { readonly path: string }): Promise<Store> {
  // The daemon's environment holds keys.
  const worker = new Worker(threadFile, { name: 'svc-store', workerData: options, env: {}, execArgv: [] })
  const send = (message: ToEngine) => worker.postMessage(message)
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  const opened = await firstMessage(worker)
  let { figures } = opened
  const waiting = createWaiting(waitMs)
  worker.on('message', (message: FromEngine) => {
    if ('figures' in message) figures = message.figures
    if (message.kind === 'failure') onFailure(errorOf(message.error))
    if (message.kind !== 'replies') return
    waiting.settle(
      message.replies.map((reply) => ('error' in reply ? { error: errorOf(reply.error) } : reply)),
    )
  })
  worker.on('error', (cause) => {
    waiting.fail(new SvcError('journal_failed', 'the thread of the ledger ended', { cause }))
    onFailure(cause)
  })
  const reader: Connection = openSqlite(databaseOf(options.path), { isReader: true })
  const { id, report, isCopy } = opened
  return closable({
    id,
    report,
    isCopy,
    change(name, ...args) {
      send({ kind: 'step', request: { name, args, nowMs: clock.now() } })
      return waiting.add() as Promise<never>
    },
    ask: async (question) => reader.run(question),
    figures: () => figures,
    async close() {
      reader.close()
      send({ kind: 'close' })
      await ended
      waiting.close()
    },
  })
}

/** Throws what the engine refused with. */
function firstMessage(worker: Worker): Promise<Extract<FromEngine, { kind: 'open' }>> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (message: FromEngine) => {
      worker.off('error', reject)
      if (message.kind === 'open') return resolve(message)
      void worker.terminate()
      reject(message.kind === 'refused' ? errorOf(message.error) : new SvcError('invariant', message.kind))
    })
  })
}
