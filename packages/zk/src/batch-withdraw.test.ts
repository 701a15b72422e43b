import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type BatchBurn,
  batchRange,
  batchShape,
  batchWithdrawInput,
  fittingLeaves,
} from './batch-withdraw.js'
import { rootOfPath, transferLeaf, treeHeight } from './merkle-tree.js'

const siblings = Array.from({ length: treeHeight }, (_, level) => BigInt(level + 3))
const burnAt = (leafIndex: number): BatchBurn => ({
  secret: 5n,
  from: '0x01',
  to: '0x02',
  value: BigInt(leafIndex),
  leafIndex,
  siblings,
})
const known = { root: 1n, recipientHash: 2n, start: 10, end: 5000 }

describe('the leaves of one proof', () => {
  test('are at most thirty', () => {
    const indices = Array.from({ length: 40 }, (_, at) => at)
    expect(fittingLeaves(indices)).toBe(30)
    expect(fittingLeaves(indices.slice(0, 7))).toBe(7)
    expect(fittingLeaves([])).toBe(0)
  })

  test('lie in at most four windows', () => {
    expect(fittingLeaves([5, 1023, 1024, 2048, 4095, 4096])).toBe(5)
    expect(fittingLeaves([0, 2 ** 20, 2 ** 30, 2 ** 39, 2 ** 39 + 1, 2 ** 39 + 1024])).toBe(5)
  })

  test('are as many as can be, whatever the indices are', () => {
    const rising = fc.uniqueArray(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 })
    fc.assert(
      fc.property(rising, (drawn) => {
        const indices = drawn.toSorted((one, other) => one - other)
        const count = fittingLeaves(indices)
        const windowsOf = (length: number) =>
          new Set(indices.slice(0, length).map((index) => Math.floor(index / 1024))).size
        expect(count <= batchShape.slots && windowsOf(count) <= batchShape.windows).toBe(true)
        const isFull = count === batchShape.slots || windowsOf(count + 1) > batchShape.windows
        expect(count === indices.length || isFull).toBe(true)
      }),
    )
  })
})

describe('the end of a proof', () => {
  const every = (step: number, count: number, first = 0) =>
    Array.from({ length: count }, (_, at) => first + at * step)

  test('is the leaf count of the root where all leaves fit', () => {
    expect(batchRange([3, 70, 2000], 5000)).toEqual({ count: 3, end: 5000 })
    expect(batchRange(every(1, 30), 31)).toEqual({ count: 30, end: 31 })
  })

  test('is a boundary of windows where more lie there than fit', () => {
    expect(batchRange(every(100, 50, 7), 6000)).toEqual({ count: 21, end: 2048 })
    expect(batchRange([5, 1030, 2100, 3100, 5000, 5001], 6000)).toEqual({ count: 4, end: 4096 })
  })

  test('is a finer boundary rather than one that leaves most slots empty', () => {
    expect(batchRange([1000, ...every(10, 40, 1030)], 2000)).toEqual({ count: 20, end: 1216 })
  })

  test('is not the place of a leaf that is left out', () => {
    expect(batchRange([...every(1, 30, 900), 1024], 2000)).toEqual({ count: 30, end: 960 })
    expect(batchRange([...every(2, 20, 900), ...every(1, 20, 940)], 2000)).toEqual({ count: 20, end: 939 })
  })

  test('names a leaf only where leaves of ours follow each other without a gap', () => {
    expect(batchRange(every(1, 31, 5), 100)).toEqual({ count: 30, end: 35 })
  })

  test('leaves nothing out over all proofs, counts nothing twice, and hides behind others where there are any', () => {
    const rising = fc.uniqueArray(fc.integer({ min: 0, max: 9_000 }), { minLength: 1, maxLength: 120 })
    fc.assert(
      fc.property(rising, (drawn) => {
        const indices = drawn.toSorted((one, other) => one - other)
        let rest = indices
        let proofs = 0
        while (rest.length > 0) {
          const { count, end } = batchRange(rest, 9_001)
          const [counted, later] = [rest.slice(0, count), rest.slice(count)]
          expect(fittingLeaves(counted)).toBe(count)
          expect(counted.length).toBeGreaterThan(0)
          expect(Math.max(...counted)).toBeLessThan(end)
          expect(Math.min(9_001, ...later)).toBeGreaterThanOrEqual(end)
          const dense = (later[0] ?? 0) - (counted[0] ?? 0) === count
          if (!dense) expect(later[0]).not.toBe(end)
          rest = later
          proofs += 1
        }
        // Each proof but the last fills half of its slots, or all of its windows.
        expect(proofs).toBeLessThanOrEqual(1 + Math.ceil(indices.length / 15) + Math.ceil(9_001 / 4096))
      }),
    )
  })
})

describe('inputs of the batch circuit', () => {
  test('hold the sum, the windows once each, and padding that repeats the first', () => {
    const input = batchWithdrawInput({ ...known, burns: [burnAt(10), burnAt(12), burnAt(2050)] })
    expect(input.withdrawValue).toBe(2072n)
    expect(input.window).toEqual([0n, 2n, 0n, 0n])
    expect((input.used as bigint[]).filter((used) => used === 1n)).toHaveLength(3)
    expect((input.place as bigint[]).slice(0, 4)).toEqual([10n, 12n, 2n, 10n])
    expect((input.inWindow as bigint[]).slice(8, 16)).toEqual([0n, 1n, 0n, 0n, 1n, 0n, 0n, 0n])
    const leaf = transferLeaf(2, burnAt(2050))
    expect((input.windowRoot as bigint[])[1]).toBe(rootOfPath(leaf, 2, siblings.slice(0, 10)))
  })

  test.each([
    ['no burn', []],
    ['a leaf twice', [burnAt(10), burnAt(10)]],
    ['leaves that fall', [burnAt(12), burnAt(10)]],
    ['a leaf before the start', [burnAt(9)]],
    ['a leaf at the end', [burnAt(5000)]],
    ['more windows than there are', [10, 1024, 2048, 3072, 4096].map(burnAt)],
    ['a path that is too short', [{ ...burnAt(10), siblings: siblings.slice(1) }]],
  ] as const)('are not made of %s', (_, burns) => {
    expect(() => batchWithdrawInput({ ...known, burns })).toThrow()
  })
})
