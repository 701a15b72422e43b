import { elementBytes, limbBits, limbCount } from '../field.js'
import { paddedMultiple, storeCarried } from '../field-functions.js'
import { single } from '../lanes.js'
import { at, keep } from '../montgomery.js'
import { control, i32 } from '../wasm/code.js'
import type { ModuleBuilder } from '../wasm/module.js'
import { defineImport, numberBytes } from '../words.js'
import { type CoordinateShape, coordinateBytes } from './coordinate.js'

/** Bytes of a sum: x and y. */
export const sumBytes = (shape: CoordinateShape): number => 2 * coordinateBytes(shape)
/** Bytes of a point that may be taken negative: x, y and −y. */
export const baseBytes = (shape: CoordinateShape): number => 3 * coordinateBytes(shape)
/** Bytes of a point in a proving key: x and y as Montgomery forms of 2^256. */
export const keyPointBytes = ({ degree }: CoordinateShape): number => 2 * degree * numberBytes

/** From the Montgomery radix of proving keys, 2^256, to ours. */
const radixChange = 1n << BigInt(limbBits * limbCount - 8 * numberBytes)

export type PointFunctions = {
  /** (bases, points of a key, count) */
  readonly importPoints: (bases: number, points: number, count: number) => void
}

/** Defines the import of a proving key's points into memory. */
export function definePointFunctions(module: ModuleBuilder, shape: CoordinateShape): void {
  const { field, degree } = shape
  const importElement = defineImport(module, field, radixChange)
  const negate = defineNegate(module, shape)
  module.define({
    params: ['i32', 'i32', 'i32'],
    exportAs: 'importPoints',
    body(scope) {
      const [base, point, rest] = [scope.param(0), scope.param(1), scope.param(2)]
      const offset = (address: typeof base, bytes: number) => i32.add(address.get, i32.const(bytes))
      const elements = Array.from({ length: 2 * degree }, (_, index) =>
        control.call(importElement, offset(base, index * elementBytes), offset(point, index * numberBytes)),
      )
      const negatives = Array.from({ length: degree }, (_, part) => {
        const y = (degree + part) * elementBytes
        return control.call(negate, offset(base, y + coordinateBytes(shape)), offset(base, y))
      })
      return control.forever([
        control.leaveIf(1, i32.eqz(rest.get)),
        elements,
        negatives,
        base.set(offset(base, baseBytes(shape))),
        point.set(offset(point, keyPointBytes(shape))),
        rest.set(i32.sub(rest.get, i32.const(1))),
      ])
    },
  })
}

/** (result, element): at most 2 for an element of at most 2. */
function defineNegate(module: ModuleBuilder, { field }: CoordinateShape): number {
  const two = paddedMultiple(field, 2)
  return module.define({
    params: ['i32', 'i32'],
    body(scope) {
      const arithmetic = { field, lanes: single, scope }
      const element = keep(
        arithmetic,
        Array.from({ length: limbCount }, (_, limb) => single.load(scope.param(1).get, limb)),
      )
      const sums = element.result.map((limb, index) => single.subtract(single.constant(at(two, index)), limb))
      return [element.setup, storeCarried(arithmetic, scope.param(0).get, sums)]
    },
  })
}
