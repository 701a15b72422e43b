import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inverseModulo, power, scalarPrime } from '../field.js'
import { type ConstraintTerm, createQuotient } from './quotient.js'

const bytesOf = (value: bigint) =>
  Uint8Array.from({ length: 32 }, (_, byte) => Number((value >> BigInt(8 * byte)) & 255n))
const numberAt = (words: Uint32Array, index: number) =>
  words.subarray(8 * index, 8 * index + 8).reduceRight((value, word) => (value << 32n) | BigInt(word), 0n)

type Term = ConstraintTerm & { readonly coefficient: bigint }

/** The quotient by its definition: interpolate at the even powers, evaluate at the odd ones. */
function naive(domain: number, terms: readonly Term[], witness: readonly bigint[]): bigint[] {
  const p = scalarPrime
  const root = power(5n, (p - 1n) / BigInt(2 * domain), p)
  const at = (exponent: number) => power(root, BigInt(exponent), p)
  const valuesOf = (side: ConstraintTerm['side']) =>
    Array.from({ length: domain }, (_, constraint) =>
      terms
        .filter((term) => term.side === side && term.constraint === constraint)
        .reduce((sum, { coefficient, wire }) => (sum + coefficient * (witness[wire] ?? 0n)) % p, 0n),
    )
  const shifted = (values: readonly bigint[]) => {
    const scale = inverseModulo(BigInt(domain), p)
    const polynomial = values.map((_, k) =>
      values.reduce(
        (sum, value, i) => sum + value * at((2 * domain - ((2 * i * k) % (2 * domain))) % (2 * domain)),
        0n,
      ),
    )
    return values.map(
      (_, i) =>
        (polynomial.reduce((sum, value, k) => sum + value * at((k * (2 * i + 1)) % (2 * domain)), 0n) *
          scale) %
        p,
    )
  }
  const [left, right] = [valuesOf('left'), valuesOf('right')]
  const [a, b, c] = [left, right, left.map((value, i) => (value * (right[i] ?? 0n)) % p)].map(shifted)
  return (a ?? []).map((value, i) => (((value * (b?.[i] ?? 0n) - (c?.[i] ?? 0n)) % p) + p) % p)
}

describe('the quotient of a witness', () => {
  const value = fc.oneof(
    fc.constantFrom(0n, 1n, 2n, scalarPrime - 1n),
    fc.bigInt({ min: 0n, max: scalarPrime - 1n }),
  )
  const instance = fc
    .record({ bits: fc.integer({ min: 1, max: 5 }), wires: fc.integer({ min: 1, max: 6 }) })
    .chain(({ bits, wires }) =>
      fc.record({
        domain: fc.constant(2 ** bits),
        witness: fc.array(value, { minLength: wires, maxLength: wires }),
        terms: fc.array(
          fc.record({
            side: fc.constantFrom('left' as const, 'right' as const),
            constraint: fc.integer({ min: 0, max: 2 ** bits - 1 }),
            wire: fc.integer({ min: 0, max: wires - 1 }),
            coefficient: value,
          }),
          { maxLength: 60 },
        ),
      }),
    )

  test('agrees with interpolation and evaluation by the definition', () => {
    fc.assert(
      fc.property(instance, ({ domain, witness, terms }) => {
        const quotient = createQuotient({
          wires: witness.length,
          domain,
          terms,
          coefficients: Buffer.concat(
            terms.map(({ coefficient }) => bytesOf((coefficient << 512n) % scalarPrime)),
          ),
        })
        const expected = naive(domain, terms, witness)
        // Twice: leftovers of one evaluation must not change the next.
        for (let run = 0; run < 2; run++) {
          const words = quotient.evaluate(Buffer.concat(witness.map(bytesOf)))
          expect(expected.map((_, index) => numberAt(words, index))).toEqual(expected)
        }
      }),
      { numRuns: 40, endOnFailure: true },
    )
  })
})
