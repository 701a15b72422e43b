import fc from 'fast-check'
import { expect, test } from 'vitest'
import { limbBits, limbCount } from '../field.js'
import { createMemory, instantiate } from '../wasm/instance.js'
import { createModule } from '../wasm/module.js'
import { coordinatePrime, defineCoordinates, pairBytes } from './coordinates.js'

type Lane = readonly number[]
type Pair = readonly [Lane, Lane]

/** All combinations of signs and sizes that points are computed with, and the largest. */
const combinations = [[-1], [1, 1], [1, -1], [2], [3], [2, -2, -2], [1, -2], [1, -8], [1, -1, -2], [15, -16]]

function setUp() {
  const module = createModule()
  const { linear } = defineCoordinates(module)
  for (const factors of combinations) linear(factors)
  const memory = createMemory(1)
  const exports = instantiate<Record<string, (...addresses: number[]) => void>>(module.bytes(), memory)
  const words = new Uint32Array(memory.buffer)
  const slot = (index: number) => index * pairBytes
  return {
    run(name: string, ...pairs: readonly Pair[]): Pair {
      for (const [index, lanes] of pairs.entries()) {
        for (const lane of [0, 1] as const) {
          lanes[lane].forEach((limb, at) => {
            words[slot(index) / 4 + 2 * at + lane] = limb
          })
        }
      }
      exports[name]?.(slot(pairs.length), ...pairs.map((_, index) => slot(index)))
      const laneOf = (lane: number) =>
        Array.from({ length: limbCount }, (_, at) => words[slot(pairs.length) / 4 + 2 * at + lane] ?? 0)
      return [laneOf(0), laneOf(1)]
    },
  }
}

const limbMax = 2 ** limbBits + 2 ** 25 - 1
const lane: fc.Arbitrary<Lane> = fc.array(
  fc.oneof(
    fc.constantFrom(0, 1, 2 ** limbBits - 1, 2 ** limbBits, limbMax),
    fc.integer({ min: 0, max: limbMax }),
  ),
  { minLength: limbCount, maxLength: limbCount },
)
const pairOf = fc.tuple(lane, lane)

const numberIn = (limbs: Lane) =>
  limbs.reduce((sum, limb, at) => sum + (BigInt(limb) << BigInt(at * limbBits)), 0n)
const reduced = (value: bigint) => ((value % coordinatePrime) + coordinatePrime) % coordinatePrime

const machine = setUp()

function expectPair(got: Pair, expected: (lane: 0 | 1) => bigint): void {
  for (const lane of [0, 1] as const) {
    expect(reduced(numberIn(got[lane]))).toBe(reduced(expected(lane)))
    expect(Math.max(...got[lane])).toBeLessThanOrEqual(limbMax)
  }
}

test('multiplies and squares whatever its own results may be, and stays within their bounds', () => {
  const largest: Lane = Array.from({ length: limbCount }, () => limbMax)
  fc.assert(
    fc.property(pairOf, pairOf, (a, b) => {
      expectPair(machine.run('multiply', a, b), (lane) => numberIn(a[lane]) * numberIn(b[lane]))
      expectPair(machine.run('square', a), (lane) => numberIn(a[lane]) ** 2n)
    }),
    {
      examples: [
        [
          [largest, largest],
          [largest, largest],
        ],
      ],
      numRuns: 300,
    },
  )
})

test.each(combinations)('adds with the factors %j', (...factors) => {
  fc.assert(
    fc.property(fc.array(pairOf, { minLength: factors.length, maxLength: factors.length }), (pairs) => {
      expectPair(machine.run(`linear${factors.join('_')}`, ...pairs), (lane) =>
        factors.reduce((sum, factor, at) => sum + BigInt(factor) * numberIn(pairs[at]?.[lane] ?? []), 0n),
      )
    }),
  )
})
