/** Requests per minute and key, in fixed windows. Bounded memory: the oldest keys are forgotten first. */
import { createBoundedMap } from '@svc-zerc20/protocol'
import type { Clock } from '../payment/ports.js'

export type RateLimit = {
  /** Counts one request; the seconds to wait when the key's rate is used up. */
  take(key: string): Taken
  /** The answer that `take` would give; counts nothing. */
  peek(key: string): Taken
}

export type Taken = 'ok' | { readonly retryAfterSeconds: number }

const windowMs = 60_000

export function createRateLimit(deps: { perMinute: number; keysMax: number; clock: Clock }): RateLimit {
  const { perMinute, keysMax, clock } = deps
  const windows = createBoundedMap<string, { startedMs: number; count: number }>(keysMax)

  function peek(key: string): Taken {
    const now = clock.now()
    const known = windows.get(key)
    if (perMinute <= 0 || !known || now - known.startedMs >= windowMs || known.count < perMinute) return 'ok'
    return { retryAfterSeconds: Math.max(1, Math.ceil((known.startedMs + windowMs - now) / 1000)) }
  }

  return {
    peek,
    take(key) {
      const taken = peek(key)
      if (perMinute <= 0 || taken !== 'ok') return taken
      const now = clock.now()
      const known = windows.get(key)
      if (known && now - known.startedMs < windowMs) known.count += 1
      else windows.set(key, { startedMs: now, count: 1 })
      return taken
    },
  }
}
