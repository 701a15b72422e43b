/** How many burns share a transaction: fewer after the node refused one, and slowly more again. */
export type BatchSize = {
  now(): number
  /** The node did not take a transaction with so many burns. */
  refused(items: number): void
  mined(): void
}

export function createBatchSize(limits: { batchItemsMax: number; batchGrowsAfter: number }): BatchSize {
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
