/** Sends each event to the log, the metrics, the recent events and the gas costs. */
import { limits } from '../config/limits.js'
import { version } from '../package.js'
import type { Clock } from '../payment/ports.js'
import type { LogEvent, LogWriter } from './events.js'
import { createMetrics } from './metrics.js'
import { registerProcessVitals } from './process-vitals.js'
import { createRecentEvents } from './recent.js'
import { createSpentGas } from './spent-gas.js'
import { unlinked } from './unlinked.js'

export type Telemetry = ReturnType<typeof createTelemetry>

export function createTelemetry(deps: {
  readonly log: LogWriter
  readonly clock: Clock
  /** Whether the log may show which payment a mint is for. */
  readonly linkMints: boolean
}) {
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
    /** Receives every event. */
    log(event: LogEvent): void {
      deps.log(deps.linkMints ? event : unlinked(event))
      metrics.hear(event)
      recent.hear(event)
      spent.hear(event)
    },
    metrics,
    recent,
    /** Gas costs of the relayer since the start. */
    spent,
    close: vitals.close,
  }
}
