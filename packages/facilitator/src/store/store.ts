/** The store as the daemon uses it: steps that change it, and questions to what is durable. */
import { Worker } from 'node:worker_threads'
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import { type Engine, type EngineFigures, type EngineOptions, openEngine } from './engine/engine.js'
import { errorOf, type FromEngine, type ToEngine, threadFile } from './engine/engine-messages.js'
import { databaseOf } from './engine/open-database.js'
import { type Connection, openSqlite } from './engine/sqlite.js'

import type { Request, StepArgs, StepName, StepResult } from './group.js'
import { type Fence, type Lease, type Leases, ownLeases } from './lease.js'
import type { Step } from './sql.js'
import { createWaiting } from './waiting.js'

export type Store = Pick<Engine, 'id' | 'report' | 'isCopy'> & {
  readonly leases: Leases
  /**
   * Runs a step. Resolves when its outcome is durable; throws `SvcError('ledger_failed')` when the disk refuses, or does
   * not answer in time. Then the step may still happen: the same payload again gets the answer.
   */
  change<Name extends StepName>(name: Name, ...args: StepArgs<Name>): Promise<StepResult<Name>>
  /** Runs a step under leases, as `change` does. Throws `SvcError('lease_lost')` once another daemon holds one of them. */
  changeUnder<Name extends StepName>(
    fences: readonly Fence[],
    name: Name,
    ...args: StepArgs<Name>
  ): Promise<StepResult<Name>>
  ask<T>(question: Step<T>): Promise<T>
  /** The database lost what this daemon was told, or another one: it must be accepted as a copy before anything else. */
  isOld?(): boolean
  figures(): EngineFigures
  /** Aborted when it is closed. */
  readonly closed: AbortSignal
  close(): Promise<void>
}

/** The store for work under leases. */
export function under(store: Store, leases: readonly Lease[]): Store {
  const fences = leases.flatMap(({ fence }) => fence ?? [])
  if (fences.length === 0) return store
  return { ...store, change: (name, ...args) => store.changeUnder(fences, name, ...args) }
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
  return asStore({
    ...engine,
    leases: ownLeases,
    async run(request) {
      const [reply] = engine.run([{ ...request, nowMs: clock.now() }])
      if (!reply || 'error' in reply) throw reply?.error
      return reply.value
    },
    ask: async (question) => engine.connection.run(question),
    close: async () => engine.close(),
  })
}

type Runner = Omit<Store, 'change' | 'changeUnder' | 'closed'> & {
  run(request: Omit<Request, 'nowMs'>): Promise<unknown>
}

/** A closed store refuses steps, and may be closed again. */
export function asStore({ run, ...store }: Runner): Store {
  let closing: Promise<void> | undefined
  const closed = new AbortController()
  const runOpen = async (request: Omit<Request, 'nowMs'>): Promise<never> => {
    if (closing) throw new SvcError('ledger_failed', 'the ledger is closed')
    return (await run(request)) as never
  }
  return {
    ...store,
    closed: closed.signal,
    change: (name, ...args) => runOpen({ name, args }),
    changeUnder: (fences, name, ...args) => runOpen({ name, args, fences }),
    close() {
      closed.abort()
      closing ??= store.close()
      return closing
    },
  }
}

/** A store with its own thread: a caller that waits for a slow disk gets an answer in time, and nobody else waits. */
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
    waiting.fail(new SvcError('ledger_failed', 'the thread of the ledger ended', { cause }))
    onFailure(cause)
  })
  const reader: Connection = openSqlite(databaseOf(options.path), { isReader: true })
  const { id, report, isCopy } = opened
  return asStore({
    id,
    report,
    isCopy,
    leases: ownLeases,
    run(request) {
      send({ kind: 'step', request: { ...request, nowMs: clock.now() } })
      return waiting.add()
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
