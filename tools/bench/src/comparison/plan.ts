/** How much is measured. Every contestant gets the same number of payments in every cell. */
export type Plan = {
  readonly rounds: number
  readonly verify: readonly { readonly concurrency: number; readonly payments: number }[]
  readonly settle: readonly { readonly concurrency: number; readonly payments: number }[]
  readonly duplicateTrials: number
  /** Purchases by command, of each buyer. */
  readonly purchases: number
  readonly warmUpPayments: number
  /** Settles one at a time at the end of the warm-up: from a few blocks our daemon learns their pace. */
  readonly warmUpAlone: number
  /** Payments at steady rates, ascending; then too many, and challenges alone. */
  readonly arrivals: {
    readonly perSecond: readonly number[]
    readonly seconds: number
    readonly overloadSeconds: number
    readonly challenges: number
  }
  /**
   * Whether settling reaches its limit. With one block a second, n payments at a time give at most n a second. So the
   * limit needs a high concurrency, for which the reference takes long.
   */
  readonly settleSaturates: boolean
}

/** Few payments one at a time show the latency. The other cells need enough payments to show a rate. */
const verifyCells = (alone: number, together: number) => [
  { concurrency: 1, payments: alone },
  { concurrency: 8, payments: together },
  { concurrency: 32, payments: together },
  { concurrency: 64, payments: together },
]

/** A few minutes. */
export const fullPlan: Plan = {
  rounds: 2,
  verify: verifyCells(128, 512),
  settle: [
    { concurrency: 1, payments: 5 },
    { concurrency: 8, payments: 24 },
    { concurrency: 32, payments: 96 },
    { concurrency: 128, payments: 256 },
    { concurrency: 512, payments: 1536 },
  ],
  duplicateTrials: 3,
  purchases: 20,
  warmUpPayments: 64,
  warmUpAlone: 4,
  arrivals: { perSecond: [50, 150, 250, 350], seconds: 8, overloadSeconds: 5, challenges: 512 },
  settleSaturates: true,
}

/** Under a minute: enough to see whether something broke, too little for figures to quote. */
export const quickPlan: Plan = {
  rounds: 1,
  verify: verifyCells(24, 64),
  settle: [
    { concurrency: 1, payments: 5 },
    { concurrency: 8, payments: 8 },
    { concurrency: 32, payments: 32 },
    { concurrency: 128, payments: 128 },
  ],
  duplicateTrials: 1,
  purchases: 6,
  warmUpPayments: 32,
  warmUpAlone: 4,
  arrivals: { perSecond: [50], seconds: 4, overloadSeconds: 0, challenges: 512 },
  settleSaturates: false,
}

/** Of the most that was accepted. */
export const overloadTimes = 3

/** Nobody accepts more of our payments in a second, so that there is a payer for each of them. */
const acceptedPerSecondMax = 450

export const payersNeeded = ({ verify, settle, arrivals, warmUpPayments }: Plan): number =>
  Math.max(
    warmUpPayments,
    ...[...verify, ...settle].map(({ payments }) => payments),
    ...arrivals.perSecond.map((perSecond) => perSecond * arrivals.seconds),
    overloadTimes * acceptedPerSecondMax * arrivals.overloadSeconds,
  )
