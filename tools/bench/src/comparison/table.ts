/** The figures as a table for a terminal. */
import type { ContestantName } from './contestants.js'
import { cellAt, cpuMsEach, type Figures, type PooledCell, saturation } from './figures.js'

export type AllFigures = Readonly<Record<ContestantName, Figures>>

export const columns: readonly { readonly name: ContestantName; readonly title: string }[] = [
  { name: 'ours', title: 'svc-zerc20' },
  { name: 'tuned', title: 'reference, tuned' },
  { name: 'example', title: 'reference, as its example' },
]

type Row = { readonly title: string; readonly cells: readonly string[]; readonly ratio: string }

const ratioTitle = 'ours ÷ tuned'

export function renderTable(all: AllFigures): string {
  const rows = rowsOf(all)
  const header: Row = { title: '', cells: columns.map(({ title }) => title), ratio: ratioTitle }
  const widths = columns.map((_, i) =>
    Math.max(...[header, ...rows].map(({ cells }) => cells[i]?.length ?? 0)),
  )
  const titleWidth = Math.max(...rows.map(({ title }) => title.length))
  const line = ({ title, cells, ratio }: Row) =>
    [
      title.padEnd(titleWidth),
      ...cells.map((cell, i) => cell.padStart(widths[i] ?? 0)),
      ratio.padStart(ratioTitle.length),
    ].join('  ')
  return [header, ...rows].map(line).join('\n')
}

export function rowsOf(all: AllFigures): Row[] {
  const number = (title: string, of: (figures: Figures) => number | undefined, digits = 1): Row => {
    const values = columns.map(({ name }) => of(all[name]))
    const [ours, tuned] = values
    const ratio =
      ours !== undefined && tuned !== undefined && tuned > 0 ? `${(ours / tuned).toFixed(2)}×` : ''
    return { title, cells: values.map((value) => value?.toFixed(digits) ?? '–'), ratio }
  }
  const text = (title: string, of: (figures: Figures) => string): Row => ({
    title,
    cells: columns.map(({ name }) => of(all[name])),
    ratio: '',
  })
  const settleConcurrencies = all.ours.settle.map(({ concurrency }) => concurrency)
  return [
    number('verify p50, one at a time (ms)', ({ verify }) => cellAt(verify, 1)?.p50Ms),
    number('verify p99, one at a time (ms)', ({ verify }) => cellAt(verify, 1)?.p99Ms),
    number('verify p50, 32 at a time (ms)', ({ verify }) => cellAt(verify, 32)?.p50Ms),
    number('verify p99, 32 at a time (ms)', ({ verify }) => cellAt(verify, 32)?.p99Ms),
    number('verify saturation (1/s)', ({ verify }) => saturation(verify).perSecond),
    text('  reached at concurrency', ({ verify }) => `${saturation(verify).concurrency}`),
    number('RPC calls a verify, one at a time', ({ verify }) => cellAt(verify, 1)?.rpcCallsEach, 2),
    number('RPC calls a verify, at saturation', ({ verify }) => saturation(verify).rpcCallsEach, 2),
    number(
      'CPU a verify, at saturation, facilitator + node (ms)',
      ({ verify }) => cpuMsEach(saturation(verify)),
      2,
    ),
    number('settle p50, one at a time (ms)', ({ settle }) => cellAt(settle, 1)?.p50Ms, 0),
    number('settle accepted, saturation (1/s)', ({ settle }) => saturation(settle).perSecond),
    text('  reached at concurrency', ({ settle }) => `${saturation(settle).concurrency}`),
    ...settleConcurrencies.map((concurrency) =>
      number(
        `settle accepted at ${concurrency} (1/s)`,
        ({ settle }) => cellAt(settle, concurrency)?.perSecond,
      ),
    ),
    ...settleConcurrencies.map((concurrency) =>
      number(`settle p99 at ${concurrency} (ms)`, ({ settle }) => cellAt(settle, concurrency)?.p99Ms, 0),
    ),
    ...settleConcurrencies.map((concurrency) =>
      text(`valid payments failed at ${concurrency}`, ({ settle }) => failedOf(cellAt(settle, concurrency))),
    ),
    number('RPC calls a settle at 1', ({ settle }) => cellAt(settle, 1)?.rpcCallsEach),
    number('RPC calls a settle at 32', ({ settle }) => cellAt(settle, 32)?.rpcCallsEach),
    number(
      'CPU a settle, at saturation, facilitator + node (ms)',
      ({ settle }) => cpuMsEach(saturation(settle)),
      2,
    ),
    number('gas a payment at 1', ({ settle }) => cellAt(settle, 1)?.gasEach, 0),
    number('gas a payment at 32', ({ settle }) => cellAt(settle, 32)?.gasEach, 0),
    number('journal records a settle at 32', ({ settle }) => cellAt(settle, 32)?.journalRecordsEach),
    ...settleConcurrencies.map((concurrency) =>
      number(
        `journal records per fsync at ${concurrency}`,
        ({ settle }) => cellAt(settle, concurrency)?.recordsPerSync,
      ),
    ),
    text(
      'reverted transactions while settling',
      ({ settle }) => `${settle.reduce((sum, { reverted }) => sum + reverted, 0)}`,
    ),
    text('16 identical: successes/transfers/reverted', ({ duplicates }) =>
      duplicates
        .map(({ successes, transfers, reverted }) => `${successes}/${transfers}/${reverted}`)
        .join(' '),
    ),
    number('RSS at the end (MB)', ({ rssBytes }) => megabytes(rssBytes), 0),
    number('RSS at its peak (MB)', ({ rssPeakBytes }) => megabytes(rssPeakBytes), 0),
  ]
}

function failedOf(cell: PooledCell | undefined): string {
  if (!cell) return '–'
  const failed = cell.payments - cell.succeeded
  return `${failed} of ${cell.payments} (${(cell.failedShare * 100).toFixed(0)} %)`
}

const megabytes = (bytes: number | undefined) => (bytes === undefined ? undefined : bytes / 1024 / 1024)
