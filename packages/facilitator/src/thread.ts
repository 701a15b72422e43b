/** A worker thread that answers questions. It starts with the first one, and a thread that was lost is replaced by the next. */
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { SvcError } from '@svc-zerc20/protocol'

/** Starts a built file. It gets no environment, because the daemon's holds keys, and no loader flags: it is plain JavaScript. */
export const startWorker = (file: URL, name: string, options: WorkerOptions = {}): Worker =>
  new Worker(file, { name, env: {}, execArgv: [], ...options })

/** For a worker that keeps nothing between two answers: a small nursery saves memory and costs no time. */
export const smallHeap: WorkerOptions = { resourceLimits: { maxYoungGenerationSizeMb: 2 } }

export type Thread<Question, Answer> = {
  /** The worker posts one answer for each question, in order. Rejects when the thread ends before it has answered. */
  ask(question: Question): Promise<Answer>
  /** Ends the thread. Open questions reject, and so does every later one. */
  close(): Promise<void>
}

export function createThread<Question, Answer>(
  start: () => Worker,
  /** A thread without a question for this long is ended: it takes megabytes. */
  restMs?: number,
): Thread<Question, Answer> {
  type Waiting = { resolve(answer: Answer): void; reject(cause: unknown): void }
  type Running = { readonly worker: Worker; readonly waiting: Waiting[] }
  let running: Running | undefined
  let rest: NodeJS.Timeout | undefined
  let isClosed = false

  async function end(): Promise<void> {
    const ended = running
    running = undefined
    clearTimeout(rest)
    await ended?.worker.terminate()
  }

  function launch(): Running {
    const launched: Running = { worker: start(), waiting: [] }
    const { worker, waiting } = launched
    let cause: unknown
    worker.on('message', (answer: Answer) => {
      waiting.shift()?.resolve(answer)
      if (waiting.length === 0 && restMs !== undefined) rest = setTimeout(end, restMs).unref()
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', (code) => {
      if (running === launched) running = undefined
      for (const { reject } of waiting) reject(cause ?? new Error(`worker exited with code ${code}`))
    })
    return launched
  }

  return {
    async ask(question) {
      if (isClosed) throw new SvcError('closed', 'the thread was closed')
      clearTimeout(rest)
      running ??= launch()
      const { worker, waiting } = running
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        worker.postMessage(question)
      })
    },
    async close() {
      isClosed = true
      await end()
    },
  }
}
