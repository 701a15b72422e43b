import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { basePrime, createField, elementBytes, limbCount, limbsOf, numberOf } from '../field.js'
import { control, i32 } from '../wasm/code.js'
import { createMemory, instantiate, pageBytes } from '../wasm/instance.js'
import { createModule } from '../wasm/module.js'
import { type CoordinateFunctions, coordinatePairBytes, defineCoordinates } from './coordinate.js'
import { createExtensionNumbers, createPrimeNumbers, type Numbers } from './numbers.js'

const field = createField(basePrime)
const parameters: Record<keyof CoordinateFunctions, number> = {
  multiply: 3,
  square: 2,
  difference: 5,
  lessOne: 5,
  lessBoth: 7,
}
type Exports = Record<keyof CoordinateFunctions, (...addresses: number[]) => void>

/** Forms, reduced or not, of the two lanes: what the functions are given, part by part. */
type Lanes = readonly [readonly bigint[], readonly bigint[]]

function setUp<Value>(degree: 1 | 2, numbers: Numbers<Value>) {
  const shape = { field, degree }
  const module = createModule()
  const functions = defineCoordinates(module, shape, pageBytes / 2)
  for (const [name, count] of Object.entries(parameters)) {
    module.define({
      params: Array.from({ length: count }, () => 'i32' as const),
      exportAs: name,
      body: (scope) =>
        control.call(
          functions[name as keyof CoordinateFunctions],
          ...Array.from({ length: count }, (_, index) => i32.add(scope.param(index).get, i32.const(0))),
        ),
    })
  }
  const memory = createMemory(1)
  const exports = instantiate<Exports>(module.bytes(), memory)
  const pairBytes = coordinatePairBytes(shape)
  const words = () => new Uint32Array(memory.buffer)
  const valueIn = (forms: readonly bigint[]) => numbers.of(forms.map((form) => field.leave(form)))

  return {
    exports,
    slot: (index: number) => 64 + index * pairBytes,
    /** Two coordinates of points, one in each half of a slot. */
    writePoints(address: number, lanes: Lanes): readonly [number, number] {
      const second = address + degree * elementBytes
      for (const [lane, start] of [address, second].entries()) {
        words().set((lanes[lane] ?? []).flatMap(limbsOf), start / 4)
      }
      return [address, second]
    },
    readPoints: (address: number) =>
      [0, 1].map((lane) =>
        Array.from({ length: degree }, (_, part) =>
          numberOf(words().slice(address / 4 + (lane * degree + part) * limbCount)),
        ),
      ),
    writePair(address: number, lanes: Lanes): number {
      lanes.forEach((forms, lane) => {
        forms.flatMap(limbsOf).forEach((limb, index) => {
          words()[address / 4 + 2 * index + lane] = limb
        })
      })
      return address
    },
    readPair: (address: number) =>
      [0, 1].map((lane) =>
        Array.from({ length: degree }, (_, part) =>
          numberOf(
            Array.from(
              { length: limbCount },
              (_, limb) => words()[address / 4 + 2 * (part * limbCount + limb) + lane] ?? 0,
            ),
          ),
        ),
      ),
    valueIn,
    limbsAreCarried: (address: number, bytes: number) =>
      words()
        .slice(address / 4, (address + bytes) / 4)
        .every((limb) => limb < 2 ** 29),
    pairBytes,
  }
}

function check<Value>(degree: 1 | 2, numbers: Numbers<Value>) {
  const machine = setUp(degree, numbers)
  const { exports, slot, writePoints, writePair, readPair, readPoints, valueIn } = machine
  const formBelow = (multiple: bigint) =>
    fc.oneof(
      fc.constantFrom(0n, 1n, basePrime - 1n, basePrime, basePrime + 1n, multiple * basePrime - 1n),
      fc.bigInt({ min: 0n, max: multiple * basePrime - 1n }),
    )
  const lanesBelow = (multiple: bigint): fc.Arbitrary<Lanes> => {
    const lane = fc.array(formBelow(multiple), { minLength: degree, maxLength: degree })
    return fc.tuple(lane, lane)
  }
  const expectLanes = (forms: bigint[][], below: bigint, expected: (lane: 0 | 1) => Value) => {
    for (const lane of [0, 1] as const) {
      expect(forms[lane]?.every((form) => form < below * basePrime)).toBe(true)
      expect(valueIn(forms[lane] ?? [])).toEqual(expected(lane))
    }
  }

  test('multiplies and squares up to its bounds', () => {
    fc.assert(
      fc.property(lanesBelow(6n), lanesBelow(6n), lanesBelow(4n), (a, b, c) => {
        exports.multiply(slot(2), writePair(slot(0), a), writePair(slot(1), b))
        expectLanes(readPair(slot(2)), 2n, (lane) => numbers.multiply(valueIn(a[lane]), valueIn(b[lane])))
        exports.square(slot(2), writePair(slot(0), c))
        expectLanes(readPair(slot(2)), 2n, (lane) => numbers.multiply(valueIn(c[lane]), valueIn(c[lane])))
        expect(machine.limbsAreCarried(slot(2), machine.pairBytes)).toBe(true)
      }),
    )
  })

  test('subtracts points from each other and from products, and comes back into bounds', () => {
    fc.assert(
      fc.property(lanesBelow(2n), lanesBelow(2n), lanesBelow(2n), (t, a, b) => {
        const [atA, atB] = [writePoints(slot(0), a), writePoints(slot(1), b)]
        exports.difference(slot(3), ...atA, ...atB)
        expectLanes(readPair(slot(3)), 6n, (lane) => numbers.subtract(valueIn(b[lane]), valueIn(a[lane])))
        const out = writePoints(slot(4), [a[0], a[0]])
        exports.lessOne(...out, writePair(slot(2), t), ...atA)
        expectLanes(readPoints(slot(4)), 2n, (lane) => numbers.subtract(valueIn(t[lane]), valueIn(a[lane])))
        exports.lessBoth(...out, slot(2), ...atA, ...atB)
        expectLanes(readPoints(slot(4)), 2n, (lane) =>
          numbers.subtract(numbers.subtract(valueIn(t[lane]), valueIn(a[lane])), valueIn(b[lane])),
        )
        expect(machine.limbsAreCarried(slot(4), machine.pairBytes)).toBe(true)
      }),
    )
  })
}

describe('coordinates of G1', () => check(1, createPrimeNumbers(basePrime)))
describe('coordinates of G2', () => check(2, createExtensionNumbers(basePrime)))
