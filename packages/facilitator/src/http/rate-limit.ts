/** Requests a minute for each key, in fixed windows. Memory is bounded: the oldest keys are forgotten first. */
import { type Clock, createBoundedMap, reject } from '@svc-zerc20/protocol'
import type { Refusal } from './problem.js'

const windowMs = 60_000

/** One request that is counted for a key. A rate of zero or less is switched off. */
export type RateRequest = { readonly rate: string; readonly key: string; readonly perMinute: number }

/** `keysMax` is the bound of each rate. */
export function createRates(deps: { readonly keysMax: number; readonly clock: Pick<Clock, 'now'> }) {
  const limits = new Map<string, ReturnType<typeof createRateLimit>>()
  const limitOf = (rate: string) => {
    const limit = limits.get(rate) ?? createRateLimit(deps)
    limits.set(rate, limit)
    return limit
  }
  return {
    /** Counts one request in each of these rates. The first that is used up refuses it, and later ones do not count it. */
    take(...asked: readonly RateRequest[]): Refusal | undefined {
      for (const { rate, key, perMinute } of asked) {
        const refused = limitOf(rate).take(key, perMinute)
        if (refused) return refused
      }
      return undefined
    },
  }
}

export function createRateLimit({ keysMax, clock }: { keysMax: number; clock: Pick<Clock, 'now'> }) {
  const windows = createBoundedMap<string, { startedMs: number; count: number }>(keysMax)

  return {
    /** Counts one request. Refuses it when the key has used up its rate. A rate of zero or less is switched off. */
    take(key: string, perMinute: number): Refusal | undefined {
      if (perMinute <= 0) return undefined
      const now = clock.now()
      const known = windows.get(key)
      if (!known || now - known.startedMs >= windowMs) {
        windows.set(key, { startedMs: now, count: 1 })
        return undefined
      }
      if (known.count < perMinute) {
        known.count += 1
        return undefined
      }
      const freeInMs = known.startedMs + windowMs - now
      return { ...reject('too_many_requests'), retryAfter: Math.max(1, Math.ceil(freeInMs / 1000)) }
    },
  }
}
