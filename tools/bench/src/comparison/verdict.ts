/** Compares our figures with the tuned reference and with our targets. */
import { type Arrivals, failed, isSustained, type LimitFigures } from './arrivals.js'
import { cellAt, type Figures, saturation } from './figures.js'
import { overloadTimes, type Plan } from './plan.js'

export type Ratios = {
  readonly verifySaturation: number
  readonly verifyP50: number
  readonly verifyP99: number
  readonly settleAccepted: number
  readonly settleP99: number
  readonly gas: number
  readonly rss: number
}

export type Target = {
  readonly name: string
  readonly reached: string
  /** Absent when this run measured too little to decide. */
  readonly met?: boolean
}

export const wantedRatio = { verify: 7, settle: 5 } as const
const verifyP50RatioMax = 0.3
/** Beyond the reference's. */
const settleP50MoreMs = 5
/** Wanted of ours alone. */
const wanted = {
  sustainedPerSecond: 350,
  verifyCpuMs: 1.2,
  settleCpuMs: { 150: 2.0, 50: 3.2 },
  challengeInsideMs: 2,
  rpcCallsAlone: 12,
  overload: { acceptedShare: 0.9, p99Ms: 6_000 },
} as const
const buyingRatioMax = 1.5

export function ratiosOf(ours: Figures, tuned: Figures): Ratios {
  const ratio = (of: (figures: Figures) => number | undefined) =>
    (of(ours) ?? Number.NaN) / (of(tuned) ?? Number.NaN)
  return {
    verifySaturation: ratio(({ verify }) => saturation(verify).perSecond),
    verifyP50: ratio(({ verify }) => cellAt(verify, 1)?.p50Ms),
    verifyP99: ratio(({ verify }) => cellAt(verify, 1)?.p99Ms),
    settleAccepted: ratio(({ settle }) => saturation(settle).perSecond),
    settleP99: ratio(({ settle }) => cellAt(settle, 32)?.p99Ms),
    gas: ratio(({ settle }) => cellAt(settle, 32)?.gasEach),
    rss: ratio(({ rssBytes }) => rssBytes),
  }
}

export function targetsOf(ours: Figures, tuned: Figures, { settleSaturates }: Plan): Target[] {
  const ratios = ratiosOf(ours, tuned)
  const p50Alone = ({ settle }: Figures) => cellAt(settle, 1)?.p50Ms ?? Number.NaN
  const failed = ours.settle.reduce((sum, cell) => sum + cell.payments - cell.succeeded, 0)
  const rpcCallsAlone = cellAt(ours.settle, 1)?.rpcCallsEach ?? Number.NaN
  const exact = ours.duplicates.every(
    ({ successes, transfers, reverted }) => successes === 1 && transfers === 1 && reverted === 0,
  )
  return [
    atLeast('verify saturation against the tuned reference', ratios.verifySaturation, wantedRatio.verify),
    atLeast(
      'settle accepted/s against the tuned reference',
      ratios.settleAccepted,
      wantedRatio.settle,
      settleSaturates,
    ),
    {
      name: `verify alone, p50 against the tuned reference ≤ ${verifyP50RatioMax}×`,
      reached: `${ratios.verifyP50.toFixed(2)}×`,
      met: ratios.verifyP50 <= verifyP50RatioMax,
    },
    {
      name: `settle alone, p50 ≤ that of the tuned reference + ${settleP50MoreMs} ms`,
      reached: `${p50Alone(ours).toFixed(0)} ms against ${p50Alone(tuned).toFixed(0)} ms`,
      met: p50Alone(ours) <= p50Alone(tuned) + settleP50MoreMs,
    },
    { name: 'no valid payment fails at any concurrency', reached: `${failed} failed`, met: failed === 0 },
    {
      name: `RPC calls of a settle alone < ${wanted.rpcCallsAlone}`,
      reached: rpcCallsAlone.toFixed(1),
      met: rpcCallsAlone < wanted.rpcCallsAlone,
    },
    {
      name: '16 identical payloads: 1 success, 1 burn, 0 reverted',
      reached: ours.duplicates
        .map(({ successes, transfers, reverted }) => `${successes}/${transfers}/${reverted}`)
        .join(', '),
      met: exact,
    },
  ]
}

function atLeast(name: string, ratio: number, wantedOf: number, isJudged = true): Target {
  return {
    name: `${name} ≥ ${wantedOf}×`,
    reached: `${ratio.toFixed(1)}×${isJudged ? '' : ', with too few at once to reach the limit'}`,
    ...(isJudged && { met: ratio >= wantedOf }),
  }
}

/** A rate that this run did not offer is not judged. */
export function limitTargets({ arrivals, overload, challenges }: LimitFigures): Target[] {
  const ours = arrivals.filter(({ name }) => name === 'ours')
  const tuned = arrivals.filter(({ name }) => name === 'tuned')
  const at = (perSecond: number) => ours.find((row) => row.offeredPerSecond === perSecond)
  const most = (rows: readonly Arrivals[]) =>
    Math.max(0, ...rows.filter(isSustained).map(({ acceptedPerSecond }) => acceptedPerSecond))
  const atMost = (name: string, ms: number | undefined, msMax: number): Target => ({
    name: `${name} ≤ ${msMax} ms`,
    reached: ms === undefined ? 'this run did not offer that rate' : `${ms.toFixed(2)} ms`,
    ...(ms !== undefined && { met: ms <= msMax }),
  })
  const fastest = at(wanted.sustainedPerSecond)
  return [
    {
      name: `${wanted.sustainedPerSecond} payments a second, 0 failed`,
      reached: `${fastest ? `${failed(fastest)} failed` : 'this run did not offer that rate'}; sustained ${most(ours).toFixed(0)} a second, the tuned reference ${most(tuned).toFixed(0)}`,
      ...(overload && { met: fastest !== undefined && failed(fastest) === 0 }),
    },
    atMost('CPU of the facilitator a verify, 16 at once', ours.at(-1)?.verifyCpuMs, wanted.verifyCpuMs),
    atMost('CPU a settle at 150 a second', at(150)?.settleCpuMs, wanted.settleCpuMs[150]),
    atMost('CPU a settle at 50 a second', at(50)?.settleCpuMs, wanted.settleCpuMs[50]),
    recoveredTarget(ours),
    atMost('/challenge p99 inside the server', challenges.inside.p99Ms, wanted.challengeInsideMs),
    ...(overload ? [overloadTarget(overload, ours)] : []),
  ]
}

/** Verify has found the signers, and a settle remembers them. */
function recoveredTarget(ours: readonly Arrivals[]): Target {
  const count = ours.reduce((sum, { recovered = Number.NaN }) => sum + recovered, 0)
  return {
    name: 'signatures recovered by a settle after its verify: 0',
    reached: `${count} in ${ours.length} rates`,
    met: count === 0,
  }
}

/** Too much is refused in order, and what is accepted is accepted as soon and as often as ever. */
function overloadTarget(overload: Arrivals, ours: readonly Arrivals[]): Target {
  const best = Math.max(...ours.map(({ acceptedPerSecond }) => acceptedPerSecond))
  const share = overload.acceptedPerSecond / best
  const { overloaded = 0, ...others } = overload.failures
  const broken = failed({ failures: others })
  const { acceptedShare, p99Ms } = wanted.overload
  return {
    name: `${overloadTimes} times that much: accepted ≥ ${acceptedShare} of the best, p99 < ${p99Ms / 1000} s, none of them lost, all others told to come back`,
    reached: `${share.toFixed(2)}, p99 ${(overload.p99Ms / 1000).toFixed(1)} s, ${overloaded} told, ${broken} failed otherwise, ${overload.lost} lost`,
    met: share >= acceptedShare && overload.p99Ms < p99Ms && broken === 0 && overload.lost === 0,
  }
}

/** A purchase by our command against one by a script with the official client. */
export const buyingTarget = (ratio: number): Target => ({
  name: `svc-pay pay, start included, against a script that pays exact ≤ ${buyingRatioMax}×`,
  reached: `${ratio.toFixed(2)}×`,
  met: ratio <= buyingRatioMax,
})
