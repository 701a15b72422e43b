import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { answerJob, createJobInHand, type Job } from './job-in-hand.js'
import { limits } from './limits.js'
import type { Answer, Question } from './message.js'
import { ProverError } from './prover-error.js'

/** Runs one job at a time in a process that is kept between jobs and replaced when it dies. */
export type ProvingSlot = {
  readonly idle: () => boolean
  /** Whether its process has a circuit's key in memory. */
  readonly hasLoaded: (circuit: string) => boolean
  readonly run: (job: Job) => void
  /** Stops a job whose caller was already answered. The process is kept. */
  readonly cancel: (job: Job) => void
  readonly pid: () => number | undefined
  /** Ends the process by its id. Its current job is rejected as closed. */
  readonly end: () => Promise<void>
}

/**
 * Starts the built process file. The process gets no environment, because the parent's environment holds keys, and no
 * loader flags, because it is plain JavaScript.
 */
export function forkProvingProcess(folder: string): ChildProcess {
  return fork(fileURLToPath(new URL('./proving-process.js', import.meta.url)), [folder], {
    serialization: 'advanced',
    env: {},
    execArgv: [`--max-old-space-size=${limits.processHeapMb}`],
    // Standard output is discarded. Standard error is shown, because an uncaught error appears there.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}

export type ProvingSlotDeps = {
  readonly start: () => ChildProcess
  /** Called when the slot can take the next job. */
  readonly free: () => void
}

export function createProvingSlot({ start, free }: ProvingSlotDeps): ProvingSlot {
  let child: ChildProcess | undefined
  const inHand = createJobInHand({ jobMsMax: limits.jobMsMax })
  let ended = false
  /** The pause after a process could not be started. */
  let pause: NodeJS.Timeout | undefined
  const loaded = new Set<string>()

  function launch(): ChildProcess {
    const launched = start()
    launched.on('message', (message) => answered(message as Answer))
    launched.on('error', (error) => gone(launched, error.message))
    launched.on('exit', (code, signal) => gone(launched, `ended with ${signal ?? `code ${code}`}`))
    return launched
  }

  function answered(answer: Answer): void {
    const job = inHand.finish(answer.id)
    if (job === undefined) return
    if (answer.kind !== 'failed') loaded.add(job.circuit)
    answerJob(job, answer)
    free()
  }

  /** Gives back the job that the process was at. */
  function loseProcess(): Job | undefined {
    child = undefined
    loaded.clear()
    return inHand.finish()
  }

  function gone(which: ChildProcess, why: string): void {
    if (which !== child) return
    const job = loseProcess()
    if (ended) {
      job?.reject(new ProverError('prover_closed', 'the prover was closed'))
      return
    }
    job?.reject(new ProverError('prover_crashed', `the proving process ${why}`))
    if (which.pid === undefined) freeLater()
    else free()
  }

  function freeLater(): void {
    pause = setTimeout(() => {
      pause = undefined
      free()
    }, limits.startPauseMs)
  }

  /** Handles a failed start: without memory `fork` throws; without file handles there is no channel, and `send` throws. */
  function failed(error: unknown): void {
    const unusable = child
    const job = loseProcess()
    if (unusable?.pid !== undefined) unusable.kill('SIGKILL')
    const crashed = new ProverError('prover_crashed', 'the proving process could not be started', {
      cause: error,
    })
    // Rejected only after `run` has returned, because the caller is still handing the job over.
    queueMicrotask(() => job?.reject(crashed))
    freeLater()
  }

  function send(question: Question): void {
    // Send errors are ignored: the exit of a process that dies meanwhile is handled separately.
    child?.send(question, () => {})
  }

  return {
    idle: () => inHand.isEmpty() && pause === undefined,
    hasLoaded: (circuit) => loaded.has(circuit),
    pid: () => child?.pid,
    run(job) {
      const id = inHand.take(job, () => child?.kill('SIGKILL'))
      const { circuit, input } = job
      try {
        child ??= launch()
        send(input === undefined ? { kind: 'warm', id, circuit } : { kind: 'prove', id, circuit, input })
      } catch (error) {
        failed(error)
      }
    },
    cancel(job) {
      const id = inHand.numberOf(job)
      if (id !== undefined) send({ kind: 'cancel', id })
    },
    async end() {
      ended = true
      clearTimeout(pause)
      const ending = child
      if (ending === undefined || ending.pid === undefined) return
      const exited = new Promise((resolve) => ending.once('exit', resolve))
      ending.kill('SIGKILL')
      await exited
    },
  }
}
