/** Events → JSON lines. */
import { once } from 'node:events'
import { pino } from 'pino'
import { type LogWriter, levelOf } from './events.js'

/** The log of this process on standard output. */
export type ProcessLog = {
  readonly log: LogWriter
  /**
   * Waits until every line is written; later lines are dropped. Exiting without it may swap the last lines: one is
   * still being written while the exit writes the rest.
   */
  end(): Promise<void>
}

/** A reader that does not read must not keep a process from ending. */
const endWaitMs = 1_000

export function createProcessLog(): ProcessLog {
  // Not synchronous: a reader that is slow must not hold up payments.
  const destination = pino.destination({ dest: 1, sync: false })
  const log = createLog(destination)
  let hasEnded = false
  return {
    log(event) {
      if (!hasEnded) log(event)
    },
    async end() {
      if (hasEnded) return
      hasEnded = true
      const closed = once(destination, 'close', { signal: AbortSignal.timeout(endWaitMs) })
      destination.end()
      await closed.catch(() => undefined)
    },
  }
}

export function createLog(destination: { write(line: string): void }): LogWriter {
  const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
  return (event) => {
    const fields = Object.fromEntries(
      Object.entries(event).map(([key, value]) => [key, typeof value === 'bigint' ? `${value}` : value]),
    )
    logger[levelOf(event)](fields)
  }
}
