/** Writes events as JSON lines. */
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { pino } from 'pino'
import type { ExitCode } from './exit-codes.js'

type Level = 'debug' | 'info' | 'warn' | 'error'
type LogEvent = { readonly event: string }

export type LogDestination = { write(line: string): void }

/** The log of this process on standard output. */
export type ProcessLog<Event> = {
  readonly log: (event: Event) => void
  /**
   * Ends the process when every line is written. Later lines are dropped. `process.exit` alone may swap the last lines,
   * because one is still being written while the exit writes the rest. If nobody reads the log, or a file hangs, the
   * process is killed after a second, without its exit code. `hangs`: a thread is known to hang, and nothing else ends it.
   */
  exit(code: ExitCode, options?: { readonly hangs?: boolean }): Promise<never>
}

/** Longest wait at the end, so that neither a stuck reader of the log nor a stuck disk can keep the process alive. */
const endWaitMs = 1_000
const endPollMs = 10

export function createProcessLog<Event extends LogEvent>(
  levelOf: (event: Event) => Level,
): ProcessLog<Event> {
  // Asynchronous, so that a slow reader of the log cannot hold up the process.
  const destination = pino.destination({ dest: 1, sync: false })
  const log = createLog(levelOf, destination)
  /** Aborted when every line is written, or when no reader is left. */
  const done = new AbortController()
  destination.once('close', () => done.abort())
  destination.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    done.abort()
  })
  let isEnding = false
  return {
    log(event) {
      if (!isEnding) log(event)
    },
    async exit(code, { hangs = false } = {}) {
      if (!isEnding) destination.end()
      isEnding = true
      await systemClock.sleep(endWaitMs, done.signal)
      for (let waitedMs = 0; isFileInUse() && waitedMs < endWaitMs; waitedMs += endPollMs) {
        await systemClock.sleep(endPollMs)
      }
      // A thread hangs in a write that nobody reads, or in a disk, and every other way to end would wait for it.
      if (hangs || !done.signal.aborted || isFileInUse()) process.kill(process.pid, 'SIGKILL')
      return process.exit(code)
    },
  }
}

/** Whether a thread of Node is at work on a file. */
const isFileInUse = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))

export function createLog<Event extends LogEvent>(
  levelOf: (event: Event) => Level,
  destination: LogDestination,
): (event: Event) => void {
  const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
  return (event) => {
    const fields = Object.fromEntries(
      Object.entries(event).map(([key, value]) => [key, typeof value === 'bigint' ? `${value}` : value]),
    )
    logger[levelOf(event)](fields)
  }
}
