/** The store as the daemon uses it: steps that change it, and questions to what is durable. */
import { Worker } from 'node:worker_threads'
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import { type Engine, type EngineFigures, type EngineOptions, openEngine } from './engine/engine.js'
import { errorOf, type FromEngine, type ToEngine, threadFile } from './engine/engine-messages.js'
import { databaseOf } from './engine/open-database.js'
import { type Connection, openSqlite } from './engine/sqlite.js'
import type { Reply, StepName, Steps } from './engine/writer.js'
import type { Step } from './sql.js'

type StepArgs<Name extends StepName> = Parameters<Steps[Name]> extends [unknown, ...infer Args] ? Args : never
type StepResult<Name extends StepName> = ReturnType<Steps[Name]> extends Step<infer T> ? T : never

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
function closable(store: Store): Store {
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
    ...{ id, report, isCopy },
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

type Waiting = {
  readonly since: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** How often steps are looked for that wait too long. */
const lookMs = 1_000

/** Callers of steps, in order. The engine replies in that order. */
function createWaiting(waitMs: number) {
  const waiting: Waiting[] = []
  const looking = setInterval(() => {
    const since = performance.now() - waitMs
    for (const step of waiting) {
      if (step.since > since) return
      step.reject(new SvcError('journal_failed', 'the disk of the ledger does not answer'))
    }
  }, lookMs).unref()
  return {
    add: (): Promise<unknown> =>
      new Promise((resolve, reject) => {
        waiting.push({ since: performance.now(), resolve, reject })
      }),
    settle(replies: readonly Reply[]): void {
      const ended = waiting.splice(0, replies.length)
      replies.forEach((reply, i) => {
        if ('error' in reply) ended[i]?.reject(reply.error)
        else ended[i]?.resolve(reply.value)
      })
    },
    fail(error: SvcError): void {
      for (const { reject } of waiting.splice(0)) reject(error)
    },
    close: () => clearInterval(looking),
  }
}
