/** Events → JSON lines. */
import { pino } from 'pino'
import { type Log, levelOf } from './events.js'

export function createLog(destination?: { write(line: string): void }): Log {
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination ?? pino.destination(1),
  )
  return (event) => {
    const fields = Object.fromEntries(
      Object.entries(event).map(([key, value]) => [key, typeof value === 'bigint' ? `${value}` : value]),
    )
    logger[levelOf(event)](fields)
  }
}
