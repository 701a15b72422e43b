/** How many burns share a transaction: fewer after the node refused one, and slowly more again. */
export type BatchSize = {
  now(): number
  /** The node did not take a transaction with this number of burns. */
  refused(items: number): void
  mined(): void
}

export type BatchLimits = { readonly batchItemsMax: number; readonly batchGrowsAfter: number }

export function createBatchSize(limits: BatchLimits): BatchSize {
  let size = limits.batchItemsMax
  let minedInRow = 0
  return {
    now: () => size,

    refused(items) {
      minedInRow = 0
      size = Math.min(size, Math.max(1, Math.floor(items / 2)))
    },

    mined() {
      minedInRow += 1
      if (minedInRow < limits.batchGrowsAfter) return
      minedInRow = 0
      size = Math.min(size * 2, limits.batchItemsMax)
    },
  }
}
