/** The latest events of payments, for an operator who investigates one. In memory only; the log has all events. */
import { type Clock, createBoundedMap } from '@svc-zerc20/protocol'
import type { LogEvent } from './events.js'

export type TimelineEntry = {
  /** Unix seconds. */
  readonly at: number
  readonly event: string
  readonly txHash?: string
  readonly reason?: string
  /** Number of known burns that the mint could belong to. */
  readonly company?: number
}

export function createRecentEvents(deps: {
  clock: Clock
  /** Payments whose events are kept; the oldest are forgotten first. */
  paymentsMax: number
  /** Events kept of one payment. Its first events are kept. */
  eventsPerPaymentMax: number
}) {
  const byNonce = createBoundedMap<string, TimelineEntry[]>(deps.paymentsMax)

  return {
    hear(event: LogEvent): void {
      if (!('challengeNonce' in event)) return
      const at = Math.floor(deps.clock.now() / 1000)
      const { challengeNonce } = event
      const known = byNonce.get(challengeNonce)
      const entries = known ?? []
      if (!known) byNonce.set(challengeNonce, entries)
      if (entries.length < deps.eventsPerPaymentMax) {
        entries.push({
          at,
          event: event.event,
          ...('txHash' in event && { txHash: event.txHash }),
          ...('reason' in event && { reason: event.reason }),
          ...('company' in event && { company: event.company }),
        })
      }
    },

    of: (challengeNonce: string): readonly TimelineEntry[] => byNonce.get(challengeNonce) ?? [],
  }
}
