/** Every promise of the contract that this version keeps has a test that carries its id. */
import { describe, expect, it } from 'vitest'
import { listFiles, readText } from './source-files.js'

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

/** Finalization (7) and fees (11, 17) come later; the numbering has gaps. */
const notYet = new Set([7, 11, 17])
const gaps = new Set([19, 33, 34, 39])

const rows = [
  ...range(1, 43).filter((row) => !notYet.has(row) && !gaps.has(row)),
  ...range(50, 76),
  ...range(80, 84),
  ...range(110, 113),
  ...range(120, 123),
  ...range(126, 135),
  ...range(150, 154),
  161,
  ...range(170, 172),
]

const tested = new Set(
  listFiles(/\.test\.ts$|\.t\.sol$/).flatMap((file) =>
    [...readText(file).matchAll(/\bR-(\d{3})\b/g)].map((match) => Number(match[1])),
  ),
)

describe('rows of the contract', () => {
  it.each(rows)('R-%i has a test', (row) => {
    expect(tested.has(row), `no test names R-${`${row}`.padStart(3, '0')}`).toBe(true)
  })
})
