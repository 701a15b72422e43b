import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scalarPrime } from '../field.js'
import { bestDigitBits, cutIntoDigits } from './digits.js'

const wordsOf = (value: bigint) =>
  Array.from({ length: 8 }, (_, word) => Number((value >> BigInt(32 * word)) & 0xffff_ffffn))

const scalar = fc.oneof(
  fc.constantFrom(0n, 1n, scalarPrime - 1n, scalarPrime - 2n, 1n << 253n, (1n << 253n) - 1n),
  // The largest scalars, all below their top bits at random.
  fc.bigInt({ min: scalarPrime >> 1n, max: scalarPrime - 1n }),
  fc.bigInt({ min: 0n, max: scalarPrime - 1n }),
)

test('digits of every size add up to their scalars and stay in their range', () => {
  fc.assert(
    fc.property(fc.array(scalar, { minLength: 1, maxLength: 5 }), (scalars) => {
      for (let bits = 2; bits <= 16; bits++) {
        const digits = cutIntoDigits(Uint32Array.from(scalars.flatMap(wordsOf)), bits)
        const [least, most] = [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
        expect(digits.values.every((digit) => digit >= least && digit <= most)).toBe(true)
        const sums = scalars.map((_, index) =>
          Array.from({ length: digits.windows }, (_, window) => window).reduce(
            (sum, window) =>
              sum + (BigInt(digits.values[window * scalars.length + index] ?? 0) << BigInt(bits * window)),
            0n,
          ),
        )
        expect(sums).toEqual(scalars)
      }
    }),
  )
})

test('more scalars get larger digits, up to what a digit can hold', () => {
  const sizes = [1, 100, 10_000, 100_000, 100_000_000].map(bestDigitBits)
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b))
  expect(sizes.at(-1)).toBe(16)
})
