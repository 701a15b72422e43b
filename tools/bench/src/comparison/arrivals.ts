/** Payments that arrive at a steady rate, whatever became of those before them; and the time of a new challenge. */
import type { ChainView } from '../inputs/chain-view.js'
import type { Child } from '../processes/child.js'
import type { LoadResult } from '../processes/load.js'
import { cpuMs } from '../processes/usage.js'
import type { Contestant, ContestantName } from './contestants.js'
import { measureDisk, type Times } from './disk.js'
import { percentile } from './figures.js'
import { untilIdle } from './measure.js'
import { overloadTimes, type Plan } from './plan.js'

export type Arrivals = {
  readonly name: ContestantName
  readonly offeredPerSecond: number
  readonly payments: number
  readonly acceptedPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failures: Readonly<Record<string, number>>
  /** Accepted, says the answer, and no transfer on the chain. */
  readonly lost: number
  /** Processor time of the facilitator alone for each payment: its verify, 16 at once, and then its settle. */
  readonly verifyCpuMs: number
  readonly settleCpuMs: number
  /** Signatures whose signer was computed again by these settles. Absent where nobody counts. */
  readonly recovered?: number
}

export type Challenges = Times & {
  readonly inside: Times
  /** Of the journal's disk alone, right after them. */
  readonly disk: Times
}

export type LimitFigures = {
  readonly arrivals: readonly Arrivals[]
  /** Ours at three times the most that it accepted. */
  readonly overload: Arrivals | undefined
  readonly challenges: Challenges
}

export const failed = ({ failures }: Pick<Arrivals, 'failures'>) =>
  Object.values(failures).reduce((sum, count) => sum + count, 0)

/** As long as most people wait. */
const p99MsMax = 4_500
export const isSustained = (row: Arrivals) => failed(row) === 0 && row.p99Ms < p99MsMax

const verifiesAtOnce = 16

export function createArrivals(deps: {
  readonly load: Child<object>
  readonly chain: ChainView
  readonly blockMs: number
  readonly plan: Plan['arrivals']
  readonly say: (line: string) => void
}) {
  const { load, chain, plan, say } = deps

  async function measure(
    { name, url, pid, token, makePayments, recovered }: Contestant,
    perSecond: number,
    seconds: number,
  ): Promise<Arrivals> {
    say(`${name}: ${perSecond} payments a second, for ${seconds} s`)
    const bodies = (await makePayments(Math.round(perSecond * seconds))).map(({ body }) => body)
    await untilIdle(pid)
    const cpu = () => cpuMs(pid) ?? Number.NaN
    const fromBlock = (await chain.read.getBlockNumber()) + 1n
    const before = cpu()
    await load.ask<LoadResult>({ url: `${url}/verify`, bodies, concurrency: verifiesAtOnce })
    const verified = cpu()
    const recoveredBefore = await recovered?.()
    const begun = cpu()
    const result = await load.ask<LoadResult>({ url: `${url}/settle`, bodies, perSecond })
    const { latenciesMs, answeredMs, failures, succeeded } = result
    const settled = cpu()
    const recoveredAfter = await recovered?.()
    const moved = new Set((await chain.transfers(token, fromBlock)).map((payer) => payer.toLowerCase()))
    // Answers come with blocks, so the last ones stand for a whole block's time.
    const spanMs = Math.max(...answeredMs) - Math.min(...answeredMs) + deps.blockMs
    return {
      name,
      offeredPerSecond: perSecond,
      payments: bodies.length,
      acceptedPerSecond: succeeded === 0 ? 0 : (1000 * succeeded) / spanMs,
      p50Ms: percentile(latenciesMs, 0.5),
      p99Ms: percentile(latenciesMs, 0.99),
      failures,
      lost: succeeded - result.payers.filter((payer) => moved.has(payer.toLowerCase())).length,
      verifyCpuMs: (verified - before) / bodies.length,
      settleCpuMs: (settled - begun) / bodies.length,
      ...(recoveredAfter !== undefined && { recovered: recoveredAfter - (recoveredBefore ?? 0) }),
    }
  }

  /** A contestant that does not sustain a rate is not asked for a higher one: its backlog takes half a minute. */
  async function measureRates(contestant: Contestant): Promise<Arrivals[]> {
    const rows: Arrivals[] = []
    for (const perSecond of plan.perSecond) {
      const row = await measure(contestant, perSecond, plan.seconds)
      rows.push(row)
      if (!isSustained(row)) break
    }
    return rows
  }

  async function measureChallenges({
    url,
    pid,
    challengeTimes,
    journalFolder,
  }: Contestant): Promise<Challenges> {
    if (!challengeTimes || !journalFolder) throw new Error('only we make challenges')
    // By then the pool of addresses is full.
    await untilIdle(pid)
    const bodies = Array.from({ length: plan.challenges }, () => JSON.stringify({ amount: '1000' }))
    const before = await challengeTimes()
    const { latenciesMs } = await load.ask<LoadResult>({ url: `${url}/challenge`, bodies, concurrency: 1 })
    const after = await challengeTimes()
    const counts = new Map([...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]))
    return {
      p50Ms: percentile(latenciesMs, 0.5),
      p99Ms: percentile(latenciesMs, 0.99),
      inside: { p50Ms: quantileMs(counts, 0.5), p99Ms: quantileMs(counts, 0.99) },
      disk: measureDisk(journalFolder, plan.challenges),
    }
  }

  return async (ours: Contestant, tuned: Contestant): Promise<LimitFigures> => {
    const challenges = await measureChallenges(ours)
    const arrivals = await measureRates(ours)
    const best = Math.max(...arrivals.map(({ acceptedPerSecond }) => acceptedPerSecond))
    const overload =
      plan.overloadSeconds > 0
        ? await measure(ours, Math.round(overloadTimes * best), plan.overloadSeconds)
        : undefined
    return { challenges, arrivals: [...arrivals, ...(await measureRates(tuned))], overload }
  }
}

/** The value below which this share lies, by the counts up to each bound in seconds: in between, evenly spread. */
function quantileMs(counts: ReadonlyMap<number, number>, share: number): number {
  const bounds = [...counts].toSorted(([a], [b]) => a - b)
  const wanted = share * (bounds.at(-1)?.[1] ?? 0)
  const at = bounds.findIndex(([, count]) => count >= wanted)
  const [below, belowCount] = bounds[at - 1] ?? [0, 0]
  const [bound = Number.NaN, count = 0] = bounds[at] ?? []
  return 1000 * (below + (bound - below) * ((wanted - belowCount) / Math.max(1, count - belowCount)))
}

const columns = [
  'offered/s',
  'accepted/s',
  'p50 ms',
  'p99 ms',
  'failed',
  'CPU verify',
  'CPU settle',
  'recovered',
] as const

export function renderArrivals({ arrivals, overload, challenges }: LimitFigures): string {
  const line = (name: string, cells: readonly string[]) =>
    `  ${name.padEnd(20)}${cells.map((cell) => cell.padStart(12)).join('')}`
  const rows = [...arrivals, ...(overload ? [overload] : [])].map((row) => {
    const figures = [row.acceptedPerSecond, row.p50Ms, row.p99Ms].map((figure) => figure.toFixed(0))
    const cpu = [row.verifyCpuMs, row.settleCpuMs].map((figure) => figure.toFixed(2))
    const reasons = Object.entries(row.failures).map(([reason, count]) => `${count} ${reason}`)
    return `${line(row.name, [`${row.offeredPerSecond}`, ...figures, `${failed(row)}`, ...cpu, `${row.recovered ?? '–'}`])}  ${reasons.join(', ')}`
  })
  const { inside, disk } = challenges
  const words = ({ p50Ms, p99Ms }: Times) => `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`
  return [
    'payments at a steady rate; CPU is that of the facilitator alone, in ms a payment; recovered are signatures, by settles',
    line('', columns),
    ...rows,
    `POST /challenge, one at a time: ${words(challenges)} at the caller; ${words(inside)} inside the server`,
    `the disk alone, an append and its sync beside the journal: ${words(disk)}`,
  ].join('\n')
}
