import fc from 'fast-check'
import { poseidon2 } from 'poseidon-lite/poseidon2'
import { poseidon3 } from 'poseidon-lite/poseidon3'
import { describe, expect, test } from 'vitest'
import { createField, scalarPrime } from '../field.js'
import { type Lanes, pair, single } from '../lanes.js'
import type { Width } from './parameters.js'
import { createProgram } from './program.js'

const number = fc.oneof(
  fc.constantFrom(0n, 1n, scalarPrime - 1n, (1n << 232n) - 1n, 1n << 253n),
  fc.bigInt({ min: 0n, max: scalarPrime - 1n }),
)

describe.each<{ name: string; lanes: Lanes; width: Width }>([
  { name: 'one hash of two numbers', lanes: single, width: 3 },
  { name: 'one hash of three numbers', lanes: single, width: 4 },
  { name: 'two hashes of two numbers at once', lanes: pair, width: 3 },
  { name: 'two hashes of three numbers at once', lanes: pair, width: 4 },
])('$name', ({ lanes, width }) => {
  const { inputs, outputs, hash } = createProgram(createField(scalarPrime), lanes, width)
  const numbers = fc.array(number, { minLength: width - 1, maxLength: width - 1 })

  test('each lane has the hash of its own numbers, as poseidon-lite computes it', () => {
    const expected = width === 3 ? poseidon2 : poseidon3
    fc.assert(
      fc.property(fc.array(numbers, { minLength: lanes.count, maxLength: lanes.count }), (ofLanes) => {
        inputs.set(ofLanes.flat().flatMap(littleEndian))
        hash()
        expect([...outputs]).toEqual(ofLanes.flatMap((lane) => littleEndian(expected(lane))))
      }),
    )
  })
})

function littleEndian(value: bigint): number[] {
  return Array.from({ length: 32 }, (_, at) => Number((value >> BigInt(8 * at)) & 255n))
}
