/** Compares our figures with the tuned reference and with our targets. */
import { cellAt, type Figures, saturation } from './figures.js'
import type { Plan } from './plan.js'

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

export const wantedRatio = 5
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

export function targetsOf(ours: Figures, ratios: Ratios, { settleSaturates }: Plan): Target[] {
  const failed = ours.settle.reduce((sum, cell) => sum + cell.payments - cell.succeeded, 0)
  const exact = ours.duplicates.every(
    ({ successes, transfers, reverted }) => successes === 1 && transfers === 1 && reverted === 0,
  )
  return [
    atLeast('verify saturation against the tuned reference', ratios.verifySaturation),
    atLeast('settle accepted/s against the tuned reference', ratios.settleAccepted, settleSaturates),
    { name: 'no valid payment fails at any concurrency', reached: `${failed} failed`, met: failed === 0 },
    {
      name: '16 identical payloads: 1 success, 1 burn, 0 reverted',
      reached: ours.duplicates
        .map(({ successes, transfers, reverted }) => `${successes}/${transfers}/${reverted}`)
        .join(', '),
      met: exact,
    },
  ]
}

function atLeast(name: string, ratio: number, isJudged = true): Target {
  return {
    name: `${name} ≥ ${wantedRatio}×`,
    reached: `${ratio.toFixed(1)}×`,
    ...(isJudged && { met: ratio >= wantedRatio }),
  }
}

/** A purchase by our command against one by a script with the official client. */
export const buyingTarget = (ratio: number): Target => ({
  name: `svc-pay pay, start included, against a script that pays exact ≤ ${buyingRatioMax}×`,
  reached: `${ratio.toFixed(2)}×`,
  met: ratio <= buyingRatioMax,
})
