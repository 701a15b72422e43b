/** Our table of series on top of `prom-client`, which counts and writes the text format that Prometheus reads. */
import { SvcError } from '@svc-zerc20/protocol'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { purposes } from '../payment/records.js'
import { type LogEvent, logEvents } from './events.js'
import {
  type CounterName,
  type HistogramName,
  type Labels,
  type Series,
  type SeriesName,
  series,
} from './series.js'

type Value = number | bigint | readonly Sample[] | undefined
/** Values that are read at a scrape. Those that are undefined, or not there this time, are left out. */
export type Readings = Readonly<Partial<Record<SourcedName, Value>>>
export type Sample = { readonly labels: Labels; readonly value: number }
type Read = () => Value

export type Metrics = {
  count(name: CounterName, labels?: Labels, by?: number): void
  observe(name: HistogramName, value: number, labels?: Labels): void
  /** Registers a function that is called at every scrape. `undefined` leaves the series out. */
  source(name: SourcedName, read: Read): void
  /** Counts the event under its name. */
  hear(event: LogEvent): void
  render(readings?: Readings): Promise<string>
}

/** Any series but a histogram, which can only be observed. */
type SourcedName = Exclude<SeriesName, HistogramName>

/** The content type of the rendered text. */
export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE

export function createMetrics(): Metrics {
  const table: Record<SeriesName, Series> = series
  const names = Object.keys(series) as SeriesName[]
  const registry = new Registry()
  const sources = new Map<SeriesName, Read>()
  /** Of this scrape, and the names that any scrape had. */
  let scraped: Readings = {}
  const everScraped = new Set<string>()
  const metrics = new Map(names.map((name) => [name, create(name)]))

  function create(name: SeriesName): Counter | Gauge | Histogram {
    const { kind, help, labels: labelNames, buckets = [] } = table[name]
    const described = { name, help, labelNames, registers: [registry] }
    if (kind === 'histogram') return emptied(new Histogram({ ...described, buckets: [...buckets] }))
    const collect = () => readSource(name)
    return kind === 'counter'
      ? new Counter({ ...described, collect })
      : emptied(new Gauge({ ...described, collect }))
  }

  function readSource(name: SeriesName): void {
    const read = sources.get(name) ?? (everScraped.has(name) && (() => scraped[name as SourcedName]))
    if (!read) return
    const value = read()
    const metric = emptied(metrics.get(name) as Counter | Gauge)
    const samples =
      typeof value === 'object' ? value : value === undefined ? [] : [{ labels: {}, value: Number(value) }]
    for (const { labels, value } of samples) metric.inc(checked(name, labels), value)
  }

  /** Throws for an unknown or missing label, which is a bug of ours. */
  function checked(name: SeriesName, labels: Labels): Labels {
    const wanted = table[name].labels
    const given = Object.keys(labels)
    if (given.length !== wanted.length || !wanted.every((label) => label in labels)) {
      throw new SvcError('invariant', `${name} has the labels [${wanted}], not [${given}]`)
    }
    return labels
  }

  function count(name: CounterName, labels: Labels = {}, by = 1): void {
    const counter = metrics.get(name) as Counter
    counter.inc(checked(name, labels), by)
  }

  // An alert on an increase needs the value before the first one.
  for (const event of Object.keys(logEvents)) count('svc_events_total', { event }, 0)
  for (const purpose of purposes) count('svc_relayer_spent_wei_total', { purpose }, 0)

  return {
    count,
    observe(name, value, labels = {}) {
      const histogram = metrics.get(name) as Histogram
      histogram.observe(checked(name, labels), value)
    },
    source: (name, read) => void sources.set(name, read),
    hear(told) {
      count('svc_events_total', { event: told.event })
      if (told.event === 'payment.accepted') count('svc_accepted_base_units_total', {}, Number(told.amount))
      if (told.event === 'relayer.mined') {
        count('svc_relayer_spent_wei_total', { purpose: told.purpose }, Number(told.wei))
      }
    },
    async render(readings = {}) {
      scraped = readings
      for (const name of Object.keys(readings)) everScraped.add(name)
      const blocks = await Promise.all(names.map((name) => registry.getSingleMetricAsString(name)))
      return `${blocks.filter(hasSamples).join('\n')}\n`
    },
  }
}

/**
 * Removes every sample. The library would show a series without labels as 0 until it is set, so an unread gauge would
 * report, for example, an empty balance.
 */
function emptied<M extends Counter | Gauge | Histogram>(metric: M): M {
  metric.reset()
  metric.remove({})
  return metric
}

/** Whether a block has samples after its help line and its type line. */
const hasSamples = (block: string) => block.split('\n', 3).length === 3
