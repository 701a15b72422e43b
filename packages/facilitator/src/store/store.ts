/** The store as the daemon uses it: steps that change it, and questions to what is durable. */
import { Worker } from 'node:worker_threads'
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import { type Engine, type EngineFigures, type EngineOptions, openEngine } from './engine/engine.js'
import { errorOf, type FromEngine, type ToEngine } from './engine/engine-messages.js'
import { databaseOf } from './engine/open-database.js'
import { type Connection, openSqlite } from './engine/sqlite.js'
import type { Reply, Request, StepName, Steps } from './engine/writer.js'
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
  /** The built file of the engine's thread. Absent: the engine runs here, and a slow disk makes everybody wait. */
  readonly worker?: URL | undefined
  /** How long a step waits for a disk that does not answer. */
  readonly waitMs: number
}

export const openStore = async (options: StoreOptions): Promise<Store> =>
  options.worker && options.path !== undefined
    ? openInThread(options, options.worker, options.path)
    : openHere(options)

/** A store whose engine runs in this thread. */
export function openHere({ clock, onFailure, waitMs, ...options }: StoreOptions): Store {
  const engine = openEngine(options, onFailure)
  const waiting = createWaiting(clock, waitMs)
  let isDue = false
  let isClosed = false
  const runAll = () => {
    isDue = false
    if (!isClosed) waiting.settle(engine.run(waiting.sent()))
  }
  return {
    id: engine.id,
    report: engine.report,
    isCopy: engine.isCopy,
    change: async (name, ...args) => {
      if (isClosed) throw new SvcError('journal_failed', 'the ledger is closed')
      // Steps that are asked for in one go are one group.
      if (!isDue) setImmediate(runAll)
      isDue = true
      return waiting.add(name, args) as Promise<never>
    },
    ask: async (question) => engine.connection.run(question),
    figures: engine.figures,
    async close() {
      if (isClosed) return
      if (isDue) runAll()
      isClosed = true
      waiting.close()
      engine.close()
    },
  }
}

async function openInThread(
  { clock, onFailure, waitMs, ...options }: StoreOptions,
  file: URL,
  path: string,
): Promise<Store> {
  // The daemon's environment holds keys.
  const worker = new Worker(file, { name: 'svc-store', workerData: options, env: {}, execArgv: [] })
  const send = (message: ToEngine) => worker.postMessage(message)
  const waiting = createWaiting(clock, waitMs)
  const opened = await firstMessage(worker)
  let { figures } = opened
  let onClosed = () => {}
  const lost = (cause: unknown) => {
    waiting.fail(new SvcError('journal_failed', 'the thread of the ledger ended', { cause }))
    onFailure(cause)
    onClosed()
  }
  worker.on('message', (message: FromEngine) => {
    if ('figures' in message) figures = message.figures
    if (message.kind === 'failure') onFailure(errorOf(message.error))
    if (message.kind === 'closed') onClosed()
    if (message.kind !== 'replies') return
    waiting.settle(
      message.replies.map((reply) => ('error' in reply ? { error: errorOf(reply.error) } : reply)),
    )
  })
  worker.on('error', lost)
  const reader: Connection = openSqlite(databaseOf(path), { isReader: true })
  return {
    id: opened.id,
    report: opened.report,
    isCopy: opened.isCopy,
    change(name, ...args) {
      const outcome = waiting.add(name, args)
      send({ kind: 'steps', requests: waiting.sent() })
      return outcome as Promise<never>
    },
    ask: async (question) => reader.run(question),
    figures: () => figures,
    async close() {
      reader.close()
      const closed = new Promise<void>((resolve) => {
        onClosed = resolve
      })
      send({ kind: 'close' })
      await closed
      waiting.close()
      await worker.terminate()
    },
  }
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
  readonly request: Request
  readonly since: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** How often steps are looked for that wait too long. */
const lookMs = 1_000

/** Steps that were asked for, in order. The engine replies in that order. */
function createWaiting(clock: Pick<Clock, 'now'>, waitMs: number) {
  const waiting: Waiting[] = []
  let unsent: Request[] = []
  const looking = setInterval(() => {
    const since = performance.now() - waitMs
    for (const step of waiting) {
      if (step.since > since) return
      step.reject(new SvcError('journal_failed', 'the disk of the ledger does not answer'))
    }
  }, lookMs).unref()
  return {
    add(name: StepName, args: readonly unknown[]): Promise<unknown> {
      const request = { name, args, nowMs: clock.now() }
      unsent.push(request)
      return new Promise((resolve, reject) => {
        waiting.push({ request, since: performance.now(), resolve, reject })
      })
    },
    /** The steps that the engine has not been told of. */
    sent(): readonly Request[] {
      const requests = unsent
      unsent = []
      return requests
    },
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
