/**
 * Failures that come again and again are told once, with all they carry, and then summed up: one line for each kind
 * in a window, with a count. A node that fails half of its calls must not fill the disk with stacks.
 */
import type { Clock } from '../payment/ports.js'
import type { LogWriter, WrittenEvent } from './events.js'

export type SummedLog = {
  readonly log: LogWriter
  /** Tells what was left out; from now on everything is written as it is. */
  close(): void
}

export function createSummedLog(deps: {
  readonly log: LogWriter
  readonly clock: Clock
  readonly windowMs: number
  /** Kinds that are told apart at once; what comes beyond them is written as it is. */
  readonly kindsMax: number
}): SummedLog {
  const { log, clock, windowMs, kindsMax } = deps
  const closing = new AbortController()
  const windows = new Map<string, { count: number; message: string }>()

  function tell(of: WrittenEvent['event'], kind: string): void {
    const { count = 0, message = '' } = windows.get(kind) ?? {}
    if (count > 0) log({ event: 'log.repeated', of, message, count, seconds: windowMs / 1000 })
  }

  /** Open for as long as it goes on: the next one of this kind is told in full only after a quiet window. */
  async function open(of: WrittenEvent['event'], kind: string): Promise<void> {
    do {
      windows.set(kind, { count: 0, message: '' })
      await clock.sleep(windowMs, closing.signal)
      tell(of, kind)
    } while ((windows.get(kind)?.count ?? 0) > 0 && !closing.signal.aborted)
    windows.delete(kind)
  }

  return {
    log(event) {
      const kind = kindOf(event)
      if (kind === undefined || closing.signal.aborted) return log(event)
      const window = windows.get(kind)
      if (window) {
        window.count += 1
        window.message = messageOf(event)
        // Which payment it was about must not get lost.
        if ('challengeNonce' in event) log({ ...event, err: messageOf(event) } as WrittenEvent)
        return
      }
      log(event)
      if (windows.size < kindsMax) void open(event.event, kind)
    },
    close: () => closing.abort(),
  }
}

/** Undefined for what is never summed up. */
function kindOf(event: WrittenEvent): string | undefined {
  if ('err' in event) {
    const reason = 'reason' in event ? event.reason : 'route' in event ? event.route : ''
    return `${event.event} ${reason} ${kindOfError(event.err)}`
  }
  return event.event === 'relayer.send_refused' || event.event === 'relayer.unfunded'
    ? event.event
    : undefined
}

/** By its code, or else by its words without the numbers in them. */
function kindOfError(err: unknown): string {
  if (!(err instanceof Error)) return typeof err
  if ('code' in err && typeof err.code === 'string') return err.code
  return `${err.name} ${err.message.replace(/0x[0-9a-f]+|\d+/gi, '#').slice(0, 80)}`
}

function messageOf(event: WrittenEvent): string {
  if ('message' in event) return event.message
  if (!('err' in event)) return ''
  return event.err instanceof Error ? event.err.message : String(event.err)
}
