/** Events → JSON lines. */
import { pino } from 'pino'
import { type Log, levels } from './events.js'

export function createLog(destination?: { write(line: string): void }): Log {
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    // Not synchronous: a reader that is slow must not hold up the indexer.
    destination ?? pino.destination({ dest: 1, sync: false }),
  )
  return (event) => {
    const fields = Object.entries(event).map(([key, value]) => [
      key,
      typeof value === 'bigint' ? `${value}` : value,
    ])
    logger[levels[event.event]](Object.fromEntries(fields))
  }
}
