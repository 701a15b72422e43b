/** The latest events of payments, for an operator who looks into one. Memory only: the log keeps them all. */
import type { Clock } from '../payment/ports.js'
import type { LogEvent } from './events.js'

export type TimelineEntry = {
  /** Unix seconds. */
  readonly at: number
  readonly event: string
  readonly txHash?: string
  readonly reason?: string
  /** Burns that could explain the mint, as far as we know them. */
  readonly company?: number
}

export type RecentEvents = {
  hear(event: LogEvent): void
  of(challengeNonce: string): readonly TimelineEntry[]
}

export function createRecentEvents(deps: {
  clock: Clock
  /** Payments whose events are kept; the oldest are forgotten first. */
  paymentsMax: number
  /** Events kept of one payment; its first ones stay. */
  eventsPerPaymentMax: number
}): RecentEvents {
  const byNonce = new Map<string, TimelineEntry[]>()

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
          ...('company' in event && { company: event.company }),
        })
      }
      byNonce.set(challengeNonce, entries)
      dropOldest(byNonce, deps.paymentsMax)
    },

    of: (challengeNonce) => byNonce.get(challengeNonce) ?? [],
  }
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  const [oldest] = map.keys()
  if (map.size > max && oldest !== undefined) map.delete(oldest)
}
