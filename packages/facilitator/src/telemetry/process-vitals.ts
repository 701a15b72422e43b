/** Memory and event-loop lag of this process, read on demand. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metrics, Sample } from './metrics.js'

const nanosecondsPerSecond = 1e9
const lagResolutionMs = 20

export function registerProcessVitals(metrics: Pick<Metrics, 'source'>): { close(): void } {
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

  metrics.source('svc_process_resident_memory_bytes', () => process.memoryUsage.rss())
  metrics.source('svc_event_loop_lag_seconds', lag)
  return { close: () => void delay.disable() }
}
