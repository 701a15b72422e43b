/** How much is measured. Every contestant gets the same number of payments in every cell. */
export type Plan = {
  readonly rounds: number
  readonly verify: readonly { readonly concurrency: number; readonly payments: number }[]
  readonly settle: readonly { readonly concurrency: number; readonly payments: number }[]
  readonly duplicateTrials: number
  readonly warmUpPayments: number
}

const verifyConcurrencies = [1, 8, 32, 64]

/** A few minutes. */
export const fullPlan: Plan = {
  rounds: 2,
  verify: verifyConcurrencies.map((concurrency) => ({ concurrency, payments: 256 })),
  settle: [
    { concurrency: 1, payments: 4 },
    { concurrency: 8, payments: 32 },
    { concurrency: 32, payments: 128 },
    { concurrency: 128, payments: 384 },
    { concurrency: 256, payments: 512 },
  ],
  duplicateTrials: 3,
  warmUpPayments: 128,
}

/** Under a minute: enough to see whether something broke, too little for figures to quote. */
export const quickPlan: Plan = {
  rounds: 1,
  verify: verifyConcurrencies.map((concurrency) => ({ concurrency, payments: 64 })),
  settle: [
    { concurrency: 1, payments: 2 },
    { concurrency: 8, payments: 8 },
    { concurrency: 32, payments: 32 },
    { concurrency: 128, payments: 128 },
  ],
  duplicateTrials: 1,
  warmUpPayments: 32,
}

export const payersNeeded = ({ verify, settle, warmUpPayments }: Plan): number =>
  Math.max(warmUpPayments, ...[...verify, ...settle].map(({ payments }) => payments))
