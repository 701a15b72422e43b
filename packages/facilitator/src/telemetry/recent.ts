/** The latest events of payments, for an operator who looks into one. Memory only: the log keeps them all. */
import type { Clock } from '../payment/ports.js'
import type { LogEvent } from './events.js'

export type TimelineEntry = {
  /** Unix seconds. */
  readonly at: number
  readonly event: string
  readonly txHash?: string
  readonly reason?: string
}

export type UnmatchedBurn = {
  readonly at: number
  readonly challengeNonce: string
  readonly txHash: string
  readonly reason: string
}

export type RecentEvents = {
  hear(event: LogEvent): void
  of(challengeNonce: string): readonly TimelineEntry[]
  /** Newest first, each transfer once. */
  unmatched(): readonly UnmatchedBurn[]
}

export function createRecentEvents(deps: {
  clock: Clock
  /** Payments whose events are kept; the oldest are forgotten first. */
  paymentsMax: number
  /** Events kept of one payment; its first ones stay. */
  eventsPerPaymentMax: number
  unmatchedMax: number
}): RecentEvents {
  const byNonce = new Map<string, TimelineEntry[]>()
  const unmatched = new Map<string, UnmatchedBurn>()

  return {
    hear(event) {
      if (!('challengeNonce' in event)) return
      const at = Math.floor(deps.clock.now() / 1000)
      const { challengeNonce } = event
      const entries = byNonce.get(challengeNonce) ?? []
      if (entries.length < deps.eventsPerPaymentMax) {
        entries.push({
          at,
          event: event.event,
          ...('txHash' in event && { txHash: event.txHash }),
          ...('reason' in event && { reason: event.reason }),
        })
      }
      byNonce.set(challengeNonce, entries)
      dropOldest(byNonce, deps.paymentsMax)
      if (event.event === 'burn.unmatched') {
        const { txHash, reason } = event
        unmatched.set(`${challengeNonce}:${txHash}`, { at, challengeNonce, txHash, reason })
        dropOldest(unmatched, deps.unmatchedMax)
      }
    },

    of: (challengeNonce) => byNonce.get(challengeNonce) ?? [],
    unmatched: () => [...unmatched.values()].reverse(),
  }
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  const [oldest] = map.keys()
  if (map.size > max && oldest !== undefined) map.delete(oldest)
}
