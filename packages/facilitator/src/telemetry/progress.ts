/** A log for people at a terminal: one short line for each step of a payment and each failure. */
import { type LogEvent, type LogWriter, levelOf } from './events.js'

const told = new Set<LogEvent['event']>([
  'burn.resumed',
  'mint.resumed',
  'mint.proving',
  'mint.mined',
  'payment.accepted',
  'payment.finalized',
])

export function createProgress(say: (line: string) => void): LogWriter {
  return (event) => {
    if (!told.has(event.event) && levelOf(event) === 'info') return
    const { event: name, ...fields } = event
    say([name, ...Object.values(fields).map(textOf)].filter((part) => part !== '').join(' '))
  }
}

function textOf(value: unknown): string {
  if (value === undefined) return ''
  return value instanceof Error ? value.message : String(value)
}
