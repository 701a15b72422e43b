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

  test('is the leaf count of the root where all leaves fit, so that no few are left behind without company', () => {
    for (const chance of [0, 0.5, 0.999]) {
      expect(batchRange([3, 70, 2000], 5000, { least: 3, chance })).toEqual({ count: 3, end: 5000 })
      expect(batchRange(every(1, 30), 31, { least: 30, chance })).toEqual({ count: 30, end: 31 })
    }
  })

  test('is drawn between the last leaf that the proof has to take and the first that it cannot', () => {
    const indices = every(100, 50, 7)
    const endAt = (chance: number) => batchRange(indices, 6000, { least: 20, chance })
    expect(endAt(0)).toEqual({ count: 30, end: 3007 })
    expect(endAt(0.5)).toEqual({ count: 25, end: 2457 })
    expect(endAt(0.999_999)).toEqual({ count: 20, end: 1908 })
  })

  test('leaves no half of the slots empty, also where fewer leaves are asked for, or more than fit', () => {
    for (const least of [1, 40]) {
      expect(batchRange(every(1, 50), 60, { least, chance: 0.999_999 })).toEqual({ count: 15, end: 15 })
    }
  })

  test('leaves nothing out over all proofs, and counts nothing twice', () => {
    const rising = fc.uniqueArray(fc.integer({ min: 0, max: 9_000 }), { minLength: 1, maxLength: 120 })
    const draws = fc.record({
      least: fc.integer({ min: 1, max: 40 }),
      chance: fc.double({ min: 0, max: 0.999, noNaN: true }),
    })
    fc.assert(
      fc.property(rising, draws, (drawn, draw) => {
        const indices = drawn.toSorted((one, other) => one - other)
        let rest = indices
        let proofs = 0
        while (rest.length > 0) {
          const fitting = fittingLeaves(rest)
          const { count, end } = batchRange(rest, 9_001, draw)
          const [counted, later] = [rest.slice(0, count), rest.slice(count)]
          expect(fittingLeaves(counted)).toBe(count)
          expect(count).toBeGreaterThanOrEqual(draw.least <= fitting ? draw.least : 1)
          expect(Math.max(...counted)).toBeLessThan(end)
          expect(Math.min(9_001, ...later)).toBeGreaterThanOrEqual(end)
          rest = later
          proofs += 1
          // All that fit are enough: what is left over is a new question.
          if (later.length > 0 && later.length < draw.least) break
        }
        // Each proof but the last fills half of its slots, or half of what its windows hold.
        expect(proofs).toBeLessThanOrEqual(3 + Math.ceil(indices.length / 8) + 2 * Math.ceil(9_001 / 4096))
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
