/** Sends each event to the log, the metrics, the recent events and the gas costs. */
import { limits } from '../config/limits.js'
import { version } from '../package.js'
import type { Clock } from '../payment/ports.js'
import type { Log, LogWriter } from './events.js'
import { createMetrics, type Metrics } from './metrics.js'
import { registerProcessVitals } from './process-vitals.js'
import { createRecentEvents, type RecentEvents } from './recent.js'
import { createSpentGas, type SpentGas } from './spent-gas.js'
import { unlinked } from './unlinked.js'

export type Telemetry = {
  /** Receives every event. */
  readonly log: Log
  readonly metrics: Metrics
  readonly recent: RecentEvents
  /** Gas costs of the relayer since the start. */
  readonly spent: SpentGas
  close(): void
}

export function createTelemetry(deps: {
  readonly log: LogWriter
  readonly clock: Clock
  /** Whether the log may show which payment a mint is for. */
  readonly linkMints: boolean
}): Telemetry {
  const { clock } = deps
  const metrics = createMetrics()
  const recent = createRecentEvents({
    clock,
    paymentsMax: limits.recentPaymentsMax,
    eventsPerPaymentMax: limits.recentEventsPerPaymentMax,
  })
  const spent = createSpentGas(metrics, clock)
  const vitals = registerProcessVitals(metrics)
  metrics.source('svc_build_info', () => [{ labels: { version }, value: 1 }])
  return {
    log(event) {
      deps.log(deps.linkMints ? event : unlinked(event))
      metrics.hear(event)
      recent.hear(event)
      spent.hear(event)
    },
    metrics,
    recent,
    spent,
    close: vitals.close,
  }
}
