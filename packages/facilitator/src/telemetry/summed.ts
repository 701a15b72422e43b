/**
 * Writes a repeated failure once in full, and then one line with a count for each kind and window. So a node that fails
 * half of its calls cannot fill the disk with stack traces.
 */
import { setMaxListeners } from 'node:events'
import type { Clock } from '@svc-zerc20/protocol'
import type { Log, LogEvent } from './events.js'

export type SummedLog = ReturnType<typeof createSummedLog>

export function createSummedLog(deps: {
  readonly log: Log
  readonly clock: Clock
  readonly windowMs: number
}) {
  const { log, clock, windowMs } = deps
  const closing = new AbortController()
  // One listens for each kind of failure, and an outage brings many kinds.
  setMaxListeners(0, closing.signal)
  const windows = new Map<string, { count: number; message: string }>()

  function tell(of: LogEvent['event'], kind: string): void {
    const { count = 0, message = '' } = windows.get(kind) ?? {}
    if (count > 0) log({ event: 'log.repeated', of, message, count, seconds: windowMs / 1000 })
  }

  /** Keeps a window open while failures of this kind continue. Only after a quiet window is the next written in full. */
  async function open(of: LogEvent['event'], kind: string): Promise<void> {
    do {
      windows.set(kind, { count: 0, message: '' })
      await clock.sleep(windowMs, closing.signal)
      tell(of, kind)
    } while ((windows.get(kind)?.count ?? 0) > 0 && !closing.signal.aborted)
    windows.delete(kind)
  }

  return {
    log(event: LogEvent) {
      const kind = kindOf(event)
      if (kind === undefined || closing.signal.aborted) return log(event)
      const window = windows.get(kind)
      if (window) {
        window.count += 1
        window.message = messageOf(event)
        // An event of a payment is always written, so that the payment can be found.
        if ('challengeNonce' in event) log({ ...event, err: messageOf(event) } as LogEvent)
        return
      }
      log(event)
      void open(event.event, kind)
    },
    /** Writes the open counts. Later events are written unchanged. */
    close: () => closing.abort(),
  }
}

/** Events without an error that others can bring about, or that come again and again. */
const summed = new Set<string>(['relayer.send_refused', 'relayer.unfunded', 'seller.unknown_token'])

/** The kind of a failure, of which there are as many as our code has names; undefined for what is never summed up. */
function kindOf(event: LogEvent): string | undefined {
  if ('err' in event) {
    const reason = 'reason' in event ? event.reason : 'route' in event ? event.route : ''
    const { code, name } = Object(event.err)
    return `${event.event} ${reason} ${code ?? name}`
  }
  return summed.has(event.event) ? event.event : undefined
}

function messageOf(event: LogEvent): string {
  if ('message' in event) return event.message
  if (!('err' in event)) return ''
  return event.err instanceof Error ? event.err.message : String(event.err)
}
