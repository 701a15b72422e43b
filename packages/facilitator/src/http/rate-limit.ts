/**
 * Requests a minute for each key, in fixed windows. Memory is bounded: the oldest keys are forgotten first. Where daemons
 * share a database, a rate holds for what all of them count together.
 */
import { type Clock, createBoundedMap, reject } from '@svc-zerc20/protocol'
import type { Counted, SharedCounts } from '../store/postgres/counts.js'
import type { Refusal } from './problem.js'

const windowMs = 60_000

/** One request that is counted for a key. A rate of zero or less is switched off. */
export type RateRequest = { readonly rate: string; readonly key: string; readonly perMinute: number }

export type Rates = ReturnType<typeof createRates>

/** `keysMax` is the bound of each rate. */
export function createRates({
  keysMax,
  clock,
  shared,
}: {
  readonly keysMax: number
  readonly clock: Pick<Clock, 'now'>
  readonly shared?: SharedCounts | undefined
}) {
  const limits = new Map<string, ReturnType<typeof createRateLimit>>()
  const limitOf = (rate: string) => {
    const limit = limits.get(rate) ?? createRateLimit({ keysMax, clock })
    limits.set(rate, limit)
    return limit
  }

  /** Refuses what this daemon alone has counted too often. Such a refusal needs no round trip. */
  function takeHere(asked: readonly RateRequest[]): Refusal | undefined {
    for (const { rate, key, perMinute } of asked) {
      const refused = limitOf(rate).take(key, perMinute)
      if (refused) return refused
    }
    return undefined
  }

  /** All are counted in one round trip; what is behind a refusal is taken back. */
  async function takeEverywhere(
    counts: SharedCounts,
    all: readonly RateRequest[],
  ): Promise<Refusal | undefined> {
    const asked = all.filter(({ perMinute }) => perMinute > 0)
    const counted = await Promise.all(asked.map(({ rate, key }) => counts.add(`${rate} ${key}`)))
    let refused: Refusal | undefined
    asked.forEach(({ rate, key, perMinute }, i) => {
      const answer = counted[i]
      if (!answer) return
      if (refused) {
        limitOf(rate).takeBack(key)
        counts.takeBack(`${rate} ${key}`, answer.minute)
      } else {
        refused = limitOf(rate).learn(key, perMinute, answer)
      }
    })
    return refused
  }

  return {
    /** Counts one request in each of these rates. The first that is used up refuses it, and later ones do not count it. */
    async take(...asked: readonly RateRequest[]): Promise<Refusal | undefined> {
      const refused = takeHere(asked)
      return refused || !shared ? refused : takeEverywhere(shared, asked)
    },
  }
}

export function createRateLimit({ keysMax, clock }: { keysMax: number; clock: Pick<Clock, 'now'> }) {
  const windows = createBoundedMap<string, { startedMs: number; count: number; minute?: number }>(keysMax)

  const refusalUntil = (freeAtMs: number): Refusal => ({
    ...reject('too_many_requests'),
    retryAfter: Math.max(1, Math.ceil((freeAtMs - clock.now()) / 1000)),
  })

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
      return refusalUntil(known.startedMs + windowMs)
    },
    takeBack(key: string): void {
      const known = windows.get(key)
      if (known) known.count -= 1
    },
    /** Hears what all daemons counted. Refuses the request when that is beyond the rate, and from then on without a question. */
    learn(key: string, perMinute: number, { count, minute, ageMs }: Counted): Refusal | undefined {
      const known = windows.get(key)
      const own = known?.minute === minute ? known.count : 0
      const startedMs = clock.now() - ageMs
      windows.set(key, { startedMs, count: Math.max(own, Math.min(count, perMinute)), minute })
      return count > perMinute ? refusalUntil(startedMs + windowMs) : undefined
    },
  }
}
