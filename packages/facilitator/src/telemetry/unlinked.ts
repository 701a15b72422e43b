/**
 * Keeps errors of mints from naming the burn. Logs are collected, copied and kept by people who need not know which payment a
 * mint was for. No field of a mint event names it either: `/admin` tells, to those who have the token.
 */
import type { LogEvent } from './events.js'

/** The indexer is asked for a path right before its mint. Its errors name no leaf, but may quote an answer with hashes. */
const ofMints: ReadonlySet<string> = new Set(['mint.failed', 'batch.failed', 'indexer.failed'])
const causesMax = 5
/** Nonces, transaction hashes and anything else of 32 bytes. */
const words32 = /0x[0-9a-f]{64}/gi

export const unlinked = (event: LogEvent): LogEvent =>
  'err' in event && ofMints.has(event.event) ? { ...event, err: withoutHashes(event.err) } : event

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
