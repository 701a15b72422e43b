import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { explainSum, type Part } from './subset-sum.js'

/** Every subset, weighed one by one. */
function byHand(parts: readonly Part[], sum: bigint): readonly number[] {
  const within = parts.map(() => 0)
  let total = 0
  for (let subset = 0; subset < 2 ** parts.length; subset++) {
    const isIn = (i: number) => ((subset >> i) & 1) === 1
    if (parts.reduce((s, { value }, i) => (isIn(i) ? s + value : s), 0n) !== sum) continue
    const weight = parts.reduce((w, { chance }, i) => w * (isIn(i) ? chance : 1 - chance), 1)
    total += weight
    for (const i of parts.keys()) if (isIn(i)) within[i] = (within[i] ?? 0) + weight
  }
  return within.map((weight) => weight / total)
}

describe('the parts of a sum', () => {
  it('are as likely as all subsets together make them', () => {
    const part = fc.record({
      value: fc.integer({ min: 1, max: 6 }).map((n) => BigInt(n) * 500n),
      chance: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
    })
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), fc.nat(), (parts, subset) => {
        const sum = parts.reduce((s, { value }, i) => ((subset >> i) & 1 ? s + value : s), 0n)
        const expected = byHand(parts, sum)
        const found = explainSum(parts, sum)
        expect(found?.length).toBe(parts.length)
        for (const [i, p] of (found ?? []).entries()) expect(p).toBeCloseTo(expected[i] ?? -1, 9)
      }),
    )
  })

  it('are unknown when no subset has the sum, and when there are too many sums', () => {
    expect(explainSum([{ value: 3n, chance: 0.5 }], 4n)).toBeUndefined()
    expect(explainSum([{ value: 1n, chance: 0.5 }], -48n)).toBeUndefined()
    expect(explainSum([{ value: 1n, chance: 0.5 }], 10n ** 18n)).toBeUndefined()
  })
})
