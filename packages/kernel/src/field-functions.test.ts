import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readElement, writeElement } from './element.js'
import { basePrime, createField, elementBytes, limbCount, limbsOf, numberOf, scalarPrime } from './field.js'
import { defineField } from './field-functions.js'
import { createMemory, instantiate } from './wasm/instance.js'
import { createModule } from './wasm/module.js'

type Binary = (result: number, left: number, right: number) => void
type Unary = (result: number, element: number) => void
type Exports = { fMultiply: Binary; fSquare: Unary; fAdd: Binary; fSubtract: Binary; fCanonical: Unary }

const [first, second, result] = [0, elementBytes, 2 * elementBytes]

function setUp(prime: bigint) {
  const field = createField(prime)
  const module = createModule()
  defineField(module, { field, exportPrefix: 'f' })
  const memory = createMemory(1)
  const limbsAt = (address: number) => new Uint32Array(memory.buffer, address, limbCount)
  return {
    field,
    limbsAt,
    functions: instantiate<Exports>(module.bytes(), memory),
    put: (address: number, value: bigint) => writeElement(field, memory, address, value),
    /** Writes a Montgomery form as it is. */
    putForm: (address: number, form: bigint) => limbsAt(address).set(limbsOf(form)),
    get: (address: number) => readElement(field, memory, address),
  }
}

describe.each([
  { name: 'the scalar field', prime: scalarPrime },
  { name: 'the field of coordinates', prime: basePrime },
])('$name', ({ prime }) => {
  const { field, limbsAt, functions, put, putForm, get } = setUp(prime)
  const value = fc.oneof(
    fc.constantFrom(0n, 1n, 2n, prime - 1n, prime - 2n, (1n << 232n) - 1n, 1n << 253n),
    fc.bigInt({ min: 0n, max: prime - 1n }),
  )
  /** A form that was not reduced, up to a multiple of the prime. */
  const formBelow = (multiple: bigint) =>
    fc.oneof(fc.constantFrom(0n, multiple * prime - 1n), fc.bigInt({ min: 0n, max: multiple * prime - 1n }))

  test('multiplies, squares, adds and subtracts as bigints do', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        put(first, a)
        put(second, b)
        functions.fMultiply(result, first, second)
        expect(get(result)).toBe((a * b) % prime)
        functions.fSquare(result, first)
        expect(get(result)).toBe((a * a) % prime)
        functions.fAdd(result, first, second)
        expect(get(result)).toBe((a + b) % prime)
        functions.fSubtract(result, first, second)
        expect(get(result)).toBe((a - b + prime) % prime)
      }),
    )
  })

  test('the result may lie over an argument', () => {
    put(first, 3n)
    put(second, 5n)
    functions.fMultiply(first, first, second)
    functions.fSubtract(second, first, second)
    functions.fSquare(second, second)
    functions.fAdd(first, second, first)
    expect(get(first)).toBe(115n)
  })

  test('takes forms that were not reduced, keeps its bounds and carries its limbs through', () => {
    fc.assert(
      fc.property(formBelow(8n), formBelow(16n), formBelow(4n), (a, b, c) => {
        const value = (form: bigint) => field.leave(form)
        const resultForm = () => {
          expect(limbsAt(result).every((limb) => limb < 2 ** 29)).toBe(true)
          return numberOf(limbsAt(result))
        }
        putForm(first, a)
        putForm(second, b)
        functions.fMultiply(result, first, second)
        expect(resultForm()).toBeLessThan(2n * prime)
        expect(get(result)).toBe((value(a) * value(b)) % prime)
        functions.fAdd(result, first, second)
        expect(resultForm()).toBe(a + b)
        putForm(second, c)
        functions.fSubtract(result, first, second)
        expect(resultForm()).toBe(a + 4n * prime - c)
        functions.fCanonical(result, first)
        expect(resultForm()).toBe(a % prime)
      }),
    )
  })
})
