import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { basePrime, scalarPrime } from '../field.js'
import { type Curve, g1, g2 } from './curve.js'
import type { Point } from './group.js'
import { createMultiScalar } from './multi-scalar.js'
import type { Complex } from './numbers.js'
import { baseBytes } from './point-functions.js'
import { createPointMemory } from './point-memory.js'

const g1Generator: Point<bigint> = { x: 1n, y: 2n }
const g2Generator: Point<Complex> = {
  x: {
    re: 10857046999023057135944570762232829481370756359578518086990519993285655852781n,
    im: 11559732032986387107991004021392285783925812861821192530917403151452391805634n,
  },
  y: {
    re: 8495653923123431417604973247489272438418190587263600148770280649306958101930n,
    im: 4082367875863433681332203403145435568316851327593401208105741076214120093531n,
  },
}

const wordsOf = (value: bigint) =>
  Array.from({ length: 8 }, (_, word) => Number((value >> BigInt(32 * word)) & 0xffff_ffffn))

/** A point as a proving key writes it. */
function keyPoint<Value>({ group }: Curve<Value>, point: Point<Value>): Uint8Array {
  const parts = point ? [point.x, point.y].flatMap((value) => group.numbers.parts(value)) : []
  const words = parts.flatMap((part) => wordsOf((part << 256n) % basePrime))
  return new Uint8Array(Uint32Array.from(words).buffer)
}

/** Uses multiples of the generator, some equal and some opposite, so that sums double and vanish. */
function multiplyBoth<Value>(
  curve: Curve<Value>,
  generator: Point<Value>,
  terms: readonly (readonly [logarithm: bigint, scalar: bigint])[],
) {
  const memory = createPointMemory(curve)
  const points = terms.map(([logarithm]) => keyPoint(curve, curve.group.multiply(generator, logarithm)))
  const first = memory.importPoints(Buffer.concat(points))
  const bases = Int32Array.from(points, (_, index) => first + index * baseBytes(curve.shape))
  const scalars = Uint32Array.from(terms.flatMap(([, scalar]) => wordsOf(scalar)))
  const sum = terms.reduce((rest, [logarithm, scalar]) => rest + logarithm * scalar, 0n) % scalarPrime
  return {
    ours: createMultiScalar(curve, memory).multiply(bases, scalars),
    expected: sum === 0n ? undefined : curve.group.multiply(generator, sum),
  }
}

const scalar = fc.oneof(
  fc.constantFrom(0n, 1n, 2n, 3n, scalarPrime - 1n, scalarPrime - 2n, 1n << 253n, (1n << 253n) - 1n),
  fc.bigInt({ min: 0n, max: 300n }),
  fc.bigInt({ min: 0n, max: scalarPrime - 1n }),
)
const logarithm = fc.oneof(
  fc.constantFrom(1n, 2n, scalarPrime - 1n),
  fc.bigInt({ min: 1n, max: 10n }),
  fc.bigInt({ min: 1n, max: scalarPrime - 1n }),
)

describe('sums of points by scalars', () => {
  test('agree with plain arithmetic in G1, whatever meets in a bucket', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(logarithm, scalar), { maxLength: 40 }), (terms) => {
        const { ours, expected } = multiplyBoth(g1, g1Generator, terms)
        expect(ours).toEqual(expected)
      }),
      { numRuns: 30, endOnFailure: true },
    )
  })

  test('agree with plain arithmetic in G2', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(logarithm, scalar), { maxLength: 20 }), (terms) => {
        const { ours, expected } = multiplyBoth(g2, g2Generator, terms)
        expect(ours).toEqual(expected)
      }),
      { numRuns: 15, endOnFailure: true },
    )
  })

  test('agree with plain arithmetic for more points than one batch and one group of windows take', () => {
    let point: Point<bigint> = g1Generator
    const terms = Array.from({ length: 6000 }, (_, index) => {
      const term = { logarithm: BigInt(index + 1), point }
      point = g1.group.add(point, g1Generator)
      return term
    })
    const memory = createPointMemory(g1)
    const first = memory.importPoints(Buffer.concat(terms.map((term) => keyPoint(g1, term.point))))
    const bases = Int32Array.from(terms, (_, index) => first + index * baseBytes(g1.shape))
    const sums = createMultiScalar(g1, memory)
    // Twice, because the second run reuses the memory of the first.
    for (const factor of [scalarPrime / 3n, scalarPrime / 7n]) {
      const scalarOf = (logarithm: bigint) => (factor * (logarithm ** 3n + 1n)) % scalarPrime
      const scalars = Uint32Array.from(terms.flatMap(({ logarithm }) => wordsOf(scalarOf(logarithm))))
      const sum = terms.reduce((rest, { logarithm }) => rest + logarithm * scalarOf(logarithm), 0n)
      expect(sums.multiply(bases, scalars)).toEqual(g1.group.multiply(g1Generator, sum % scalarPrime))
    }
  })
})
