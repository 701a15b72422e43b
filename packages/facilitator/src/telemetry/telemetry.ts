/** Sends each event to the log and the metrics, and adds up what gas cost. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { version } from '../package.js'
import type { Purpose } from '../payment/records.js'
import type { Log, LogEvent } from './events.js'
import { createMetrics, type Metrics, type Sample } from './metrics.js'

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

/** The indexer is asked for a path right before its mint. Its errors name no leaf, but may quote an answer with hashes. */
const ofMints: ReadonlySet<string> = new Set(['mint.failed', 'batch.failed', 'indexer.failed'])
const causesMax = 5
/** Nonces, transaction hashes and anything else of 32 bytes. */
const words32 = /0x[0-9a-f]{64}/gi

/**
 * Keeps errors of mints from naming the burn. Logs are collected, copied and kept by people who need not know which payment a
 * mint was for. No field of a mint event names it either: `/admin` tells, to those who have the token.
 */
export const unlinked = (event: LogEvent): LogEvent =>
  'err' in event && ofMints.has(event.event) ? { ...event, err: withoutHashes(event.err) } : event

/** The error and its causes, with every hash removed from their messages. */
function withoutHashes(err: unknown, depth = 0): unknown {
  const strike = (text: string) => text.replace(words32, '0x…')
  if (typeof err === 'string') return strike(err)
  if (!(err instanceof Error) || depth === causesMax) return undefined
  const struck = new Error(strike(err.message))
  struck.name = err.name
  struck.stack = strike(err.stack ?? '')
  const cause = withoutHashes(err.cause, depth + 1)
  return Object.assign(struck, 'code' in err && { code: err.code }, cause !== undefined && { cause })
}
