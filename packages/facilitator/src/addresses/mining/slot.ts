import { Worker } from 'node:worker_threads'
import type { MinedAddress, PowPuzzle } from '@svc-zerc20/zk'
import { limits } from '../limits.js'
import { MineError } from './error.js'
import type { MineAnswer, MineSlice } from './worker.js'

/** One search, from the call to its answer. */
export type MineTask = {
  readonly puzzle: PowPuzzle
  readonly resolve: (mined: MinedAddress) => void
  readonly reject: (error: MineError) => void
  startNonce: number
  crashes: number
}

/** Room for one task at a time, with a thread that outlives tasks and is replaced when it crashes. */
export type MineSlot = {
  idle(): boolean
  run(task: MineTask): void
  /** Ends the thread. Returns its unfinished task, which the caller must answer. */
  end(): { readonly unfinished: MineTask | undefined; readonly ended: Promise<unknown> }
}

export type MineSlotDeps = {
  readonly startWorker: () => Worker
  /** The next task, when one is done. */
  readonly nextTask: () => MineTask | undefined
  /** How long a thread waits for a task before it is ended. */
  readonly restMs: number
}

/**
 * Starts the built worker file. The worker gets no environment, because the daemon's environment holds keys, and no
 * loader flags, because the file is plain JavaScript.
 */
export function startMineWorker(): Worker {
  return new Worker(new URL('./worker.js', import.meta.url), {
    name: 'svc-address-miner',
    // A worker keeps nothing between two hashes: a small nursery saves memory and costs no time.
    resourceLimits: { maxYoungGenerationSizeMb: 2 },
    env: {},
    execArgv: [],
  })
}

function sliceOf(task: MineTask): MineSlice {
  const { generation, powBits, recipientHash, baseSecret } = task.puzzle
  return {
    // Fields are picked by name, because callers pass derivations that hold secrets.
    puzzle: { generation, powBits, recipientHash, baseSecret },
    range: { startNonce: task.startNonce, maxTries: limits.sliceTries },
  }
}

/** The thread starts with the first task, so a worker that cannot live costs only the tasks given to it. */
export function createMineSlot({ startWorker, nextTask, restMs }: MineSlotDeps): MineSlot {
  let worker: Worker | undefined
  let current: MineTask | undefined
  let rest: NodeJS.Timeout | undefined

  /** Ends a thread without work: it takes as much memory as ten thousand addresses. */
  function endRested(): void {
    const rested = worker
    worker = undefined
    rested?.terminate()
  }

  function launch(): Worker {
    const launched = startWorker()
    let cause: unknown
    launched.on('message', answered)
    launched.on('error', (error) => {
      cause = error
    })
    launched.on('exit', (exitCode) => {
      if (worker === launched) crashed(cause ?? new Error(`worker exited with code ${exitCode}`))
    })
    return launched
  }

  function run(task: MineTask | undefined): void {
    current = task
    clearTimeout(rest)
    if (task === undefined) {
      rest = setTimeout(endRested, restMs)
      rest.unref()
      return
    }
    try {
      worker ??= launch()
    } catch (error) {
      // The system refused another thread, which counts as a crash. Other events go first.
      setImmediate(crashed, error)
      return
    }
    worker.postMessage(sliceOf(task))
  }

  function answered(answer: MineAnswer): void {
    const task = current
    if (task === undefined) return // ended while the answer was on its way
    if (answer.outcome === 'found') {
      task.resolve({ powNonce: answer.powNonce, payTo: answer.payTo })
      run(nextTask())
    } else if (answer.nextNonce < limits.triesPerExpectedMax * 2 ** task.puzzle.powBits) {
      task.startNonce = answer.nextNonce
      run(task)
    } else {
      task.reject(new MineError('miner_exhausted', `no valid nonce below ${answer.nextNonce}`))
      run(nextTask())
    }
  }

  function crashed(cause: unknown): void {
    worker = undefined
    const task = current
    if (task === undefined) return // it died idle or was ended: the next task starts another
    task.crashes += 1
    if (task.crashes <= limits.crashesPerTaskMax) {
      run(task)
    } else {
      task.reject(new MineError('miner_crashed', `${task.crashes} workers crashed on one task`, { cause }))
      run(nextTask())
    }
  }

  return {
    idle: () => current === undefined,
    run,
    end() {
      const unfinished = current
      current = undefined
      clearTimeout(rest)
      return { unfinished, ended: Promise.resolve(worker?.terminate()) }
    },
  }
}
