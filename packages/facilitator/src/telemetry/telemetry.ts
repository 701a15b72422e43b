/** Sends each event to the log, the metrics and the gas costs. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '@svc-zerc20/protocol'
import { version } from '../package.js'
import type { Log, LogEvent } from './events.js'
import { createMetrics, type Metrics, type Sample } from './metrics.js'
import { createSpentGas } from './spent-gas.js'
import { unlinked } from './unlinked.js'

export type Telemetry = ReturnType<typeof createTelemetry>

export function createTelemetry(deps: { readonly log: Log; readonly clock: Clock }) {
  const { clock } = deps
  const metrics = createMetrics()
  const spent = createSpentGas(metrics, clock)
  const vitals = registerProcessVitals(metrics)
  metrics.source('svc_build_info', () => [{ labels: { version }, value: 1 }])
  return {
    /** Receives every event. */
    log(event: LogEvent): void {
      deps.log(unlinked(event))
      metrics.hear(event)
      spent.hear(event)
    },
    metrics,
    /** Gas costs of the relayer since the start. */
    spent,
    close: vitals.close,
  }
}

const nanosecondsPerSecond = 1e9
const lagResolutionMs = 20

/** Event-loop lag of this process, read on demand. */
function registerProcessVitals(metrics: Pick<Metrics, 'source'>): { close(): void } {
  const delay = monitorEventLoopDelay({ resolution: lagResolutionMs })
  delay.enable()

  function lag(): Sample[] {
    // Every measured value includes the timer's own period, which is subtracted.
    const seconds = (nanoseconds: number) =>
      Math.max(0, (nanoseconds || 0) / nanosecondsPerSecond - lagResolutionMs / 1000)
    const samples = [
      { labels: { quantile: '0.5' }, value: seconds(delay.percentile(50)) },
      { labels: { quantile: '0.99' }, value: seconds(delay.percentile(99)) },
      { labels: { quantile: '1' }, value: seconds(delay.max) },
    ]
    delay.reset()
    return samples
  }

  metrics.source('svc_event_loop_lag_seconds', lag)
  return { close: () => void delay.disable() }
}
