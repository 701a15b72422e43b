import { describe, expect, it } from 'vitest'
import { createBatchSize } from './batch.js'

describe('the size of a batch', () => {
  it('halves with each refusal, down to one, and never grows by one that was larger', () => {
    const size = createBatchSize({ batchItemsMax: 50, batchGrowsAfter: 3 })
    const seen = [50, 25, 50, 12, 6, 3, 1, 1].map((items) => {
      size.refused(items)
      return size.now()
    })
    expect(seen).toEqual([25, 12, 12, 6, 3, 1, 1, 1])
  })

  it('doubles after so many were mined in a row, up to its bound', () => {
    const size = createBatchSize({ batchItemsMax: 5, batchGrowsAfter: 3 })
    size.refused(3)
    const seen = Array.from({ length: 12 }, () => {
      size.mined()
      return size.now()
    })
    expect(seen).toEqual([1, 1, 2, 2, 2, 4, 4, 4, 5, 5, 5, 5])
  })
})
