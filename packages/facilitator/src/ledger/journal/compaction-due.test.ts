import { describe, expect, it } from 'vitest'
import { isWorthCompacting, pauseAfter } from './compaction-due.js'

describe('a journal is worth compacting', () => {
  it.each([
    ['a fifth of its records can go', { records: 10, bytes: 4_000 }, 8, 0, true],
    ['less than that can go', { records: 10, bytes: 4_000 }, 9, 0, false],
    ['nothing can go', { records: 10, bytes: 4_000 }, 10, 0, false],
    ['it is empty', { records: 0, bytes: 0 }, 0, 0, false],
    ['nearly all can go, and it is small', { records: 100, bytes: 4_000 }, 1, 4_001, false],
    ['nearly all can go, and it is just not small', { records: 100, bytes: 4_001 }, 1, 4_001, true],
  ])('when %s: %#', (_, file, recordsMin, bytesMin, expected) => {
    expect(isWorthCompacting(file, recordsMin, bytesMin)).toBe(expected)
  })

  it('never again right after it was compacted', () => {
    for (let records = 1; records < 200; records++) {
      const after = { records, bytes: records * 400 }
      expect(isWorthCompacting(after, records, 0)).toBe(false)
    }
  })
})

describe('the pause before the next look', () => {
  const pace = { lookMs: 5, backOffMaxMs: 30 }
  it('doubles up to its bound while looks go in vain, and is short again afterwards', () => {
    const pauses = [5]
    for (let i = 0; i < 4; i++) pauses.push(pauseAfter(true, pauses.at(-1) ?? 0, pace))
    expect(pauses).toEqual([5, 10, 20, 30, 30])
    expect(pauseAfter(false, 30, pace)).toBe(5)
  })
})
