import { expect, it } from 'vitest'
import { backOffMs } from './back-off.js'

it('the pause doubles with each failure in a row, up to the limit', () => {
  expect([0, 1, 2, 3, 4, 5].map((failures) => backOffMs(failures, 100, 1_000))).toEqual([
    0, 100, 200, 400, 800, 1_000,
  ])
})

it.each([0, 1])(
  'the pause is a number after any number of failures, from a first one of %i ms',
  (firstMs) => {
    expect(backOffMs(5_000, firstMs, 60_000)).toBe(firstMs * 60_000)
  },
)
