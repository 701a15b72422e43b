import fc from 'fast-check'
import { poseidon2 } from 'poseidon-lite/poseidon2'
import { poseidon3 } from 'poseidon-lite/poseidon3'
import { describe, expect, test } from 'vitest'
import { scalarPrime } from './field.js'
import { createPoseidon } from './poseidon.js'

const { hash2, hash3, findNonce } = createPoseidon()
const number = fc.oneof(
  fc.constantFrom(0n, 1n, 2n, scalarPrime - 1n, scalarPrime - 2n, (1n << 232n) - 1n, 1n << 253n),
  fc.bigInt({ min: 0n, max: scalarPrime - 1n }),
)

describe('hashes', () => {
  test('of two numbers are those of poseidon-lite', () => {
    fc.assert(
      fc.property(number, number, (a, b) => {
        expect(hash2(a, b)).toBe(poseidon2([a, b]))
      }),
    )
  })

  test('of three numbers are those of poseidon-lite', () => {
    fc.assert(
      fc.property(number, number, number, (a, b, c) => {
        expect(hash3(a, b, c)).toBe(poseidon3([a, b, c]))
      }),
    )
  })

  test('take numbers modulo the order of the field', () => {
    const large = [scalarPrime, -1n, (1n << 256n) - 1n, 1n << 300n]
    for (const value of large) {
      const residue = ((value % scalarPrime) + scalarPrime) % scalarPrime
      expect(hash2(value, 3n)).toBe(poseidon2([residue, 3n]))
    }
  })
})

describe('the search', () => {
  test('finds the first try whose hash has the zeros, as one by one', () => {
    fc.assert(
      fc.property(
        number,
        number,
        fc.integer({ min: 0, max: 6 }),
        fc.boolean(),
        (fixed, start, zeroBits, wide) => {
          const hashAt = (index: number) => {
            const last = (start + BigInt(index)) % scalarPrime
            return wide ? poseidon3([fixed, 7n, last]) : poseidon2([fixed, last])
          }
          const fits = (index: number) => ((hashAt(index) >> 160n) & ((1n << BigInt(zeroBits)) - 1n)) === 0n
          const expected = Array.from({ length: 24 }, (_, index) => index).find(fits)
          const inputs = wide ? ([fixed, 7n] as const) : ([fixed] as const)
          expect(findNonce({ fixed: inputs, start, tries: 24, fromBit: 160, zeroBits })).toBe(expected)
        },
      ),
      { numRuns: 40, examples: [[1n, scalarPrime - 3n, 4, true]] },
    )
  })

  test('tries no more than it was told to, though it hashes two at once', () => {
    const parities = new Set<number>()
    for (const start of [0n, 1n]) {
      const search = { fixed: [1n, 2n], start, fromBit: 160, zeroBits: 6 } as const
      const found = findNonce({ ...search, tries: 1000 }) ?? 0
      parities.add(found % 2)
      expect(found).toBeGreaterThan(0)
      expect(findNonce({ ...search, tries: found })).toBeUndefined()
      expect(findNonce({ ...search, tries: found + 1 })).toBe(found)
    }
    expect(parities.size).toBe(2)
  })
})
