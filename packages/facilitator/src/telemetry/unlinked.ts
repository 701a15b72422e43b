/**
 * Removes from mint events everything that links a mint to its burn. Logs are collected, copied and kept by people who
 * need not know which payment a mint was for. The operator can ask `/admin` by nonce instead.
 */
import type { LogEvent, WrittenEvent } from './events.js'

export const mintEvents = [
  'mint.proving',
  'mint.proved',
  'mint.mined',
  'mint.failed',
  'mint.resumed',
  'payment.finalized',
] as const satisfies readonly LogEvent['event'][]

const causesMax = 5
/** Nonces, transaction hashes and anything else of 32 bytes. */
const words32 = /0x[0-9a-f]{64}/gi

export function unlinked(event: LogEvent): WrittenEvent {
  // The indexer is asked for a path right before its mint. Its errors name no leaf, but may quote an answer with hashes.
  if (event.event === 'indexer.failed') return { ...event, err: withoutHashes(event.err) }
  if (!isMintEvent(event)) return event
  const { challengeNonce: _, ...rest } = event
  return rest.event === 'mint.failed' ? { ...rest, err: withoutHashes(rest.err) } : rest
}

const isMintEvent = (event: LogEvent): event is Extract<LogEvent, { event: (typeof mintEvents)[number] }> =>
  (mintEvents as readonly string[]).includes(event.event)

/** The error and its causes, with every hash removed from their messages. */
function withoutHashes(err: unknown, depth = 0): unknown {
  const strike = (text: string) => text.replace(words32, '0x…')
  if (typeof err === 'string') return strike(err)
  if (!(err instanceof Error) || depth === causesMax) return undefined
  const struck = new Error(strike(err.message))
  struck.name = err.name
  struck.stack = strike(err.stack ?? '')
  const cause = withoutHashes(err.cause, depth + 1)
  return Object.assign(struck, 'code' in err && { code: err.code }, cause !== undefined && { cause })
}
