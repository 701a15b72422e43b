/** Requests per minute and key, in fixed windows. */
import { createBoundedMap } from '@svc-zerc20/protocol'
import type { Clock } from '../payment/ports.js'

/**
 * One rate. Facilitators that serve the same callers share its counts, so that a caller does not get its rate from each
 * of them; each question may be a round trip to a store. Lost counts give callers a minute's rate once more.
 */
export type RateLimit = {
  /**
   * Counts one request; the seconds to wait when the key's rate is used up. Atomic: of requests at the same time no more
   * than the rate are told `ok`.
   */
  take(key: string): Promise<Taken>
  /** The answer that `take` would give; counts nothing. */
  peek(key: string): Promise<Taken>
}

/** Makes the rate of this name, the same one for everybody who asks for it. A rate of zero or less is switched off. */
export type RateLimits = (name: RateName, perMinute: number) => RateLimit

/** Every rate there is; a key of one name has nothing to do with the same key of another. */
export type RateName =
  | 'shared'
  | 'issuance'
  | 'known'
  | 'beyond'
  | 'misses'
  | 'challenge_sure'
  | 'challenge_further'
  | 'history'
  | 'history_export'
  | 'history_login'

export type Taken = 'ok' | { readonly retryAfterSeconds: number }

const windowMs = 60_000

/** Rates in memory, for one facilitator. Memory is bounded: the oldest keys are forgotten first. */
export function createRateLimits(deps: { keysMax: number; clock: Pick<Clock, 'now'> }): RateLimits {
  return (_name, perMinute) => createRateLimit({ ...deps, perMinute })
}

export function createRateLimit(deps: {
  perMinute: number
  keysMax: number
  clock: Pick<Clock, 'now'>
}): RateLimit {
  const { perMinute, keysMax, clock } = deps
  const windows = createBoundedMap<string, { startedMs: number; count: number }>(keysMax)

  function peek(key: string): Taken {
    const now = clock.now()
    const known = windows.get(key)
    if (perMinute <= 0 || !known || now - known.startedMs >= windowMs || known.count < perMinute) return 'ok'
    return { retryAfterSeconds: Math.max(1, Math.ceil((known.startedMs + windowMs - now) / 1000)) }
  }

  return {
    peek: async (key) => peek(key),
    async take(key) {
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
