/** Sends each event to the log and the metrics, and adds up what gas cost. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { version } from '../package.js'
import type { Purpose } from '../payment/records.js'
import type { Log, LogEvent } from './events.js'
import { createMetrics, type Metrics, type Sample } from './metrics.js'
import { unlinked } from './unlinked.js'

export type Telemetry = ReturnType<typeof createTelemetry>

/** Confirmed transactions since the start. */
type Spent = { readonly transactions: number; readonly gas: bigint; readonly wei: bigint }

export function createTelemetry(deps: { readonly log: Log }) {
  const metrics = createMetrics()
  const none: Spent = { transactions: 0, gas: 0n, wei: 0n }
  const spent: Record<Purpose, Spent> = { burn: none, mint: none, sweep: none, distribution: none }
  const vitals = registerProcessVitals(metrics)
  metrics.source('svc_build_info', () => [{ labels: { version }, value: 1 }])
  return {
    /** Receives every event. */
    log(event: LogEvent): void {
      deps.log(unlinked(event))
      metrics.hear(event)
      if (event.event !== 'relayer.mined') return
      const { transactions, gas, wei } = spent[event.purpose]
      spent[event.purpose] = {
        transactions: transactions + 1,
        gas: gas + event.gas,
        wei: wei + event.wei,
      }
    },
    metrics,
    /** Gas costs of relayer and minter, by purpose. */
    spent: (): Readonly<Record<Purpose, Spent>> => spent,
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
