/** Counts what happens, and writes it in the text format that Prometheus reads. */
import { SvcError } from '@svc-zerc20/protocol'
import type { LogEvent } from './events.js'
import {
  type CounterName,
  eventCounters,
  type HistogramName,
  type Labels,
  type Series,
  type SeriesName,
  series,
} from './series.js'

export type Sample = { readonly labels: Labels; readonly value: number }

export type Metrics = {
  count(name: CounterName, labels?: Labels, by?: number): void
  observe(name: HistogramName, value: number, labels?: Labels): void
  /** Asked at every scrape instead of being counted here; `undefined` leaves the series out. */
  source(name: SeriesName, read: () => number | readonly Sample[] | undefined): void
  /** Counts what pairs with the event. */
  hear(event: LogEvent): void
  render(): string
}

/** The content type of what `render` gives. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

type Distribution = { readonly labels: Labels; readonly buckets: number[]; sum: number; count: number }

export function createMetrics(): Metrics {
  const table: Record<SeriesName, Series> = series
  const counts = new Map<string, { name: SeriesName; labels: Labels; value: number }>()
  const distributions = new Map<string, { name: SeriesName } & Distribution>()
  const sources = new Map<SeriesName, () => number | readonly Sample[] | undefined>()

  function count(name: CounterName, labels: Labels = {}, by = 1): void {
    const key = name + textOf(name, labels)
    const known = counts.get(key)
    if (known) known.value += by
    else counts.set(key, { name, labels, value: by })
  }

  /** A label that the table does not know, or one that is missing, is a mistake in our own code. */
  function textOf(name: SeriesName, labels: Labels): string {
    const wanted = table[name].labels
    const given = Object.keys(labels)
    if (given.length !== wanted.length || !wanted.every((label) => label in labels)) {
      throw new SvcError('invariant', `${name} has the labels [${wanted}], not [${given}]`)
    }
    return labelText(labels)
  }

  function samplesOf(name: SeriesName): string[] {
    const read = sources.get(name)
    if (read) {
      const value = read()
      if (value === undefined) return []
      const samples = typeof value === 'number' ? [{ labels: {}, value }] : value
      return samples.map((sample) => `${name}${textOf(name, sample.labels)} ${numberText(sample.value)}`)
    }
    if (table[name].kind === 'histogram') {
      return [...distributions.values()].filter((known) => known.name === name).flatMap(bucketLines)
    }
    const counted = [...counts.values()].filter((known) => known.name === name)
    // A counter without labels exists from the start, so that its first rise is seen as one.
    if (counted.length === 0 && table[name].kind === 'counter' && table[name].labels.length === 0) {
      return [`${name} 0`]
    }
    return counted.map(({ labels, value }) => `${name}${labelText(labels)} ${numberText(value)}`)
  }

  function bucketLines({ name, labels, buckets, sum, count }: { name: SeriesName } & Distribution): string[] {
    const bounds = [...(table[name].buckets ?? []).map(numberText), '+Inf']
    let below = 0
    return [
      ...bounds.map((le, i) => {
        below += buckets[i] ?? 0
        return `${name}_bucket${labelText({ ...labels, le })} ${below}`
      }),
      `${name}_sum${labelText(labels)} ${numberText(sum)}`,
      `${name}_count${labelText(labels)} ${count}`,
    ]
  }

  return {
    count,

    observe(name, value, labels = {}) {
      const key = name + textOf(name, labels)
      const bounds = table[name].buckets ?? []
      const known = distributions.get(key) ?? {
        name,
        labels,
        buckets: Array.from({ length: bounds.length + 1 }, () => 0),
        sum: 0,
        count: 0,
      }
      distributions.set(key, known)
      const found = bounds.findIndex((bound) => value <= bound)
      const bucket = found === -1 ? bounds.length : found
      known.buckets[bucket] = (known.buckets[bucket] ?? 0) + 1
      known.sum += value
      known.count += 1
    },

    source: (name, read) => void sources.set(name, read),

    hear({ event }) {
      const paired = eventCounters[event]
      if (paired) count(paired.name, paired.labels)
    },

    render() {
      const blocks = (Object.keys(series) as SeriesName[]).flatMap((name) => {
        const lines = samplesOf(name)
        if (lines.length === 0) return []
        return [
          `# HELP ${name} ${escapeHelp(table[name].help)}`,
          `# TYPE ${name} ${table[name].kind}`,
          ...lines,
        ]
      })
      return `${blocks.join('\n')}\n`
    },
  }
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeLabel = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
const escapeHelp = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  return `${value}`
}
