/** Events → JSON lines. */
import { pino } from 'pino'
import { type LogWriter, levelOf } from './events.js'

export function createLog(destination?: { write(line: string): void }): LogWriter {
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    // Not synchronous: a reader that is slow must not hold up payments. What is left is written at exit.
    destination ?? pino.destination({ dest: 1, sync: false }),
  )
  return (event) => {
    const fields = Object.fromEntries(
      Object.entries(event).map(([key, value]) => [key, typeof value === 'bigint' ? `${value}` : value]),
    )
    logger[levelOf(event)](fields)
  }
}
