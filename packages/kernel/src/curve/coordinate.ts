import { elementBytes, type Field, limbBits, limbCount } from '../field.js'
import { defineField, paddedMultiple } from '../field-functions.js'
import { pair } from '../lanes.js'
import { at, type Limbs, type Prepared } from '../montgomery.js'
import { type Code, i64x2 } from '../wasm/code.js'
import type { FunctionScope, ModuleBuilder } from '../wasm/module.js'
import { defineExtensionMultiply, defineExtensionSquare, extensionScratchBytes } from './extension.js'
import { loadTwo, storePair, storeTwo } from './lanes-in-memory.js'

/**
 * Coordinates of curve points: elements of the base field for G1, of its quadratic extension by i² = −1 for G2, real
 * part first. Points stand anywhere in memory; the arithmetic works on two at a time, with limbs interleaved.
 */
export type CoordinateShape = { readonly field: Field; readonly degree: 1 | 2 }

export const coordinateBytes = ({ degree }: CoordinateShape): number => degree * elementBytes
/** Bytes of two coordinates, interleaved. */
export const coordinatePairBytes = (shape: CoordinateShape): number => pair.count * coordinateBytes(shape)

/**
 * Functions by their index in the module; parameters are addresses: of interleaved pairs, or one for each of two
 * points. Bounds, in multiples of the prime: coordinates of points are below 2, products and squares too, differences
 * below 6, and products take factors up to 6.
 */
export type CoordinateFunctions = {
  /** (result pair, a pair, b pair); the result lies apart. */
  readonly multiply: number
  /** (result pair, a pair), a below 4 */
  readonly square: number
  /** (result pair, a0, a1, b0, b1): b − a of points' coordinates. */
  readonly difference: number
  /** (out0, out1, t pair, a0, a1): t − a into two points, for t below 2. */
  readonly lessOne: number
  /** (out0, out1, t pair, a0, a1, b0, b1): t − a − b into two points, for t below 2. */
  readonly lessBoth: number
}

const limbIndices = Array.from({ length: limbCount }, (_, limb) => limb)
const partIndices = ({ degree }: CoordinateShape) => (degree === 1 ? [0] : [0, 1])

/** Propagates carries through the sums and leaves the limbs in locals. All sums but the top one must be at least zero. */
function carried(scope: FunctionScope, sums: readonly Code[]): Prepared<Limbs> {
  const locals = sums.map(() => scope.local(pair.type))
  const total = scope.local(pair.type)
  const setup = sums.map((sum, limb) => {
    const withCarry = limb === 0 ? sum : pair.add(sum, pair.shiftRight(total.get, limbBits))
    const isTop = limb === limbCount - 1
    if (isTop) return at(locals, limb).set(withCarry)
    return [total.set(withCarry), at(locals, limb).set(pair.low(total.get, limbBits))]
  })
  return { setup, result: locals.map((local) => local.get) }
}

/** Memory that the functions need for themselves. */
export const coordinateScratchBytes = ({ degree }: CoordinateShape): number =>
  degree === 1 ? 0 : extensionScratchBytes

export function defineCoordinates(
  module: ModuleBuilder,
  shape: CoordinateShape,
  scratch: number,
): CoordinateFunctions {
  const { field, degree } = shape
  const base = defineField(module, { field, lanes: pair })
  return {
    multiply: degree === 1 ? base.multiply : defineExtensionMultiply(module, field, scratch),
    square: degree === 1 ? base.square : defineExtensionSquare(module, field),
    difference: defineDifference(module, shape),
    lessOne: defineLess(module, shape, 1),
    lessBoth: defineLess(module, shape, 2),
  }
}

function defineDifference(module: ModuleBuilder, shape: CoordinateShape): number {
  const four = paddedMultiple(shape.field, 4)
  return module.define({
    params: ['i32', 'i32', 'i32', 'i32', 'i32'],
    body(scope) {
      const param = (index: number) => scope.param(index).get
      return partIndices(shape).map((part) => {
        const a = loadTwo(scope, part, param(1), param(2))
        const b = loadTwo(scope, part, param(3), param(4))
        const limbs = carried(
          scope,
          limbIndices.map((limb) =>
            pair.subtract(pair.add(at(b.result, limb), wide(at(four, limb))), at(a.result, limb)),
          ),
        )
        return [a.setup, b.setup, limbs.setup, storePair(part, param(0), limbs.result)]
      })
    },
  })
}

/**
 * t minus one or two coordinates, plus the multiple of the prime that brings the result between 0 and 2 primes. The top
 * limbs alone decide which multiple: their error is a few units, and the prime's top limb is millions of units.
 */
function defineLess(module: ModuleBuilder, shape: CoordinateShape, subtrahends: 1 | 2): number {
  const { field } = shape
  const top = limbCount - 1
  const topOfPrime = at(field.primeLimbs, top)
  // Zero, written so that the subtraction makes no limb but the top one negative.
  const zero = limbIndices.map((limb) => (limb < top ? 2 ** (limbBits + 1) : 0) - (limb > 0 ? 2 : 0))
  return module.define({
    params: ['i32', 'i32', 'i32', ...Array.from({ length: 2 * subtrahends }, () => 'i32' as const)],
    body(scope) {
      const param = (index: number) => scope.param(index).get
      return partIndices(shape).map((part) => {
        const minuend = (limb: number) => pair.widen(pair.load(param(2), part * limbCount + limb))
        const taken = (subtrahends === 1 ? [3] : [3, 5]).map((first) =>
          loadTwo(scope, part, param(first), param(first + 1)),
        )
        const minus = (limb: number) =>
          taken.reduce((rest, { result }) => pair.subtract(rest, at(result, limb)), minuend(limb))
        const estimate = scope.local(pair.type)
        const missing = Array.from({ length: 2 * subtrahends }, (_, multiple) =>
          i64x2.ltS(estimate.get, wide(subtrahends - multiple * topOfPrime)),
        ).reduce(i64x2.add)
        const multiple = scope.local(pair.type)
        const limbs = carried(
          scope,
          limbIndices.map((limb) =>
            pair.add(
              pair.add(minus(limb), pair.multiply(multiple.get, pair.constant(at(field.primeLimbs, limb)))),
              wide(at(zero, limb)),
            ),
          ),
        )
        return [
          taken.map(({ setup }) => setup),
          estimate.set(minus(top)),
          multiple.set(pair.narrow(i64x2.sub(wide(0), missing))),
          limbs.setup,
          storeTwo(part, param(0), param(1), limbs.result),
        ]
      })
    },
  })
}

/** A number of either sign as a sum. */
const wide = (value: number): Code => pair.sumConstant(BigInt(value))
