/**
 * How much may be under way. What comes beyond is refused before any work is done for it, and told when to come back: the same
 * request is good then. A new challenge leads to one more settle, so it is refused wherever a settle would be.
 */
import { accept, type Result, reject } from '@svc-zerc20/protocol'
import type { Refusal } from './problem.js'

export type AskedKind = 'settle' | 'verify' | 'challenge'

export type UnderWay = ReturnType<typeof createUnderWay>

export type UnderWayLimits = {
  readonly settlesMax: number
  readonly delayMsMax: number
  readonly retryAfterSeconds: number
}

/** `delayMs` tells how late the event loop is. */
export function createUnderWay(limits: UnderWayLimits, delayMs: () => number) {
  let settles = 0

  function refusalOf(kind: AskedKind): Refusal | undefined {
    const isFull = kind !== 'verify' && settles >= limits.settlesMax
    if (!isFull && delayMs() <= limits.delayMsMax) return undefined
    return { ...reject('overloaded'), retryAfter: limits.retryAfterSeconds }
  }

  return {
    refusalOf,
    /** Settles, unless too many others are being settled. */
    async settle<T>(work: () => Promise<T>): Promise<Result<T> | Refusal> {
      const refused = refusalOf('settle')
      if (refused) return refused
      settles += 1
      try {
        return accept(await work())
      } finally {
        settles -= 1
      }
    },
  }
}

/** How much of the newest tick counts. */
const smoothing = 1 / 8

/**
 * How late a timer of this length is, and so the event loop: smoothed, because one long pause is no reason to send anybody away,
 * and a queue that grows is late at every tick.
 */
export function measureDelay(tickMs: number): { readonly delayMs: () => number; close(): void } {
  let last = performance.now()
  let lateMs = 0
  const timer = setInterval(() => {
    const now = performance.now()
    lateMs += smoothing * (Math.max(0, now - last - tickMs) - lateMs)
    last = now
  }, tickMs)
  timer.unref()
  return { delayMs: () => lateMs, close: () => clearInterval(timer) }
}
