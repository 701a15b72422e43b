import { expect, it } from 'vitest'
import type { Cell } from './measure.js'
import { spreadOf } from './report.js'

const cells = (...rates: number[]) => ({
  cells: rates.flatMap((rate) =>
    ([1, 8] as const).map(
      (concurrency): Cell =>
        ({ step: 'verify', concurrency, succeeded: rate * concurrency, seconds: 2 }) as Partial<Cell> as Cell,
    ),
  ),
})

it('the spread of a ratio is that of the rounds, each against its own', () => {
  const records = { ours: cells(100, 300, 200), tuned: cells(50, 100, 20), example: cells() }
  expect(spreadOf('verify', 8, records)).toEqual({ spread: [2, 10] })
  expect(spreadOf('settle', 8, records)).toEqual({})
})

it('one round has no spread, and a round in which the reference did nothing counts for none', () => {
  expect(spreadOf('verify', 1, { ours: cells(1), tuned: cells(1), example: cells() })).toEqual({})
  expect(spreadOf('verify', 1, { ours: cells(2, 4, 9), tuned: cells(1, 1, 0), example: cells() })).toEqual({
    spread: [2, 4],
  })
})
