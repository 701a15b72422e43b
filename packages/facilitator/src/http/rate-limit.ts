/** Requests a minute for each key, in fixed windows. Memory is bounded: the oldest keys are forgotten first. */
import { createBoundedMap, reject } from '@svc-zerc20/protocol'
import type { Clock } from '../payment/ports.js'
import type { Refusal } from './problem.js'

const windowMs = 60_000

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
      const retryAfter = Math.max(1, Math.ceil((known.startedMs + windowMs - now) / 1000))
      return { ...reject('too_many_requests'), retryAfter }
    },
  }
}
