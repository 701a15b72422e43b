/** Turns cells into the figures of one contestant. Cells of the same concurrency are pooled over all rounds. */
import type { Cell, Duplicates, Step } from './measure.js'

export type PooledCell = {
  readonly concurrency: number
  readonly payments: number
  readonly succeeded: number
  readonly failedShare: number
  readonly failures: Readonly<Record<string, number>>
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly rpcCallsEach: number
  readonly rpcRoundTripsEach: number
  /** Processor time of facilitator and node for each payment, in milliseconds. */
  readonly facilitatorCpuMsEach?: number
  readonly nodeCpuMsEach?: number
  readonly transactions: number
  readonly reverted: number
  /** Gas for each payment that succeeded, failed attempts included; absent when none succeeded. */
  readonly gasEach?: number
  /** Journal records per successful payment, and records per disk sync. Only with a journal. */
  readonly journalRecordsEach?: number
  readonly recordsPerSync?: number
}

export type Figures = {
  readonly verify: readonly PooledCell[]
  readonly settle: readonly PooledCell[]
  readonly duplicates: readonly Duplicates[]
  readonly rssBytes?: number
  readonly rssPeakBytes?: number
}

export function poolCells(cells: readonly Cell[], step: Step): PooledCell[] {
  const ofStep = cells.filter((cell) => cell.step === step)
  const concurrencies = [...new Set(ofStep.map(({ concurrency }) => concurrency))].sort((a, b) => a - b)
  return concurrencies.map((concurrency) =>
    pool(
      ofStep.filter((cell) => cell.concurrency === concurrency),
      concurrency,
    ),
  )
}

function pool(cells: readonly Cell[], concurrency: number): PooledCell {
  const sum = (field: (cell: Cell) => number) => cells.reduce((total, cell) => total + field(cell), 0)
  const latenciesMs = cells.flatMap((cell) => cell.latenciesMs)
  const payments = sum((cell) => cell.payments)
  const succeeded = sum((cell) => cell.succeeded)
  const failures: Record<string, number> = {}
  for (const [reason, count] of cells.flatMap((cell) => Object.entries(cell.failures))) {
    failures[reason] = (failures[reason] ?? 0) + count
  }
  const gas = sum((cell) => cell.gas)
  const syncs = sum(({ journal }) => journal?.syncs ?? 0)
  const journalRecords = sum(({ journal }) => journal?.records ?? 0)
  const each = (name: string, field: (cell: Cell) => number | undefined) =>
    cells.every((cell) => field(cell) !== undefined) && { [name]: sum((cell) => field(cell) ?? 0) / payments }
  return {
    concurrency,
    payments,
    succeeded,
    failedShare: 1 - succeeded / payments,
    failures,
    perSecond: succeeded / sum((cell) => cell.seconds),
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    rpcCallsEach: sum((cell) => cell.rpcCalls) / payments,
    rpcRoundTripsEach: sum((cell) => cell.rpcRoundTrips) / payments,
    ...each('facilitatorCpuMsEach', (cell) => cell.facilitatorCpuMs),
    ...each('nodeCpuMsEach', (cell) => cell.nodeCpuMs),
    transactions: sum((cell) => cell.transactions),
    reverted: sum((cell) => cell.reverted),
    ...(gas > 0 && succeeded > 0 && { gasEach: gas / succeeded }),
    ...(syncs > 0 && {
      journalRecordsEach: journalRecords / payments,
      recordsPerSync: journalRecords / syncs,
    }),
  }
}

/** The smallest value such that this share of the values is at most that large. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** The cell with the most successful payments a second. */
export function saturation(cells: readonly PooledCell[]): PooledCell {
  const [first, ...rest] = cells
  if (!first) throw new Error('nothing was measured')
  return rest.reduce((best, cell) => (cell.perSecond > best.perSecond ? cell : best), first)
}

/** Processor time of facilitator and node together for each payment. */
export function cpuMsEach({ facilitatorCpuMsEach, nodeCpuMsEach }: PooledCell): number | undefined {
  return facilitatorCpuMsEach === undefined || nodeCpuMsEach === undefined
    ? undefined
    : facilitatorCpuMsEach + nodeCpuMsEach
}

export function cellAt(cells: readonly PooledCell[], concurrency: number): PooledCell | undefined {
  return cells.find((cell) => cell.concurrency === concurrency)
}
