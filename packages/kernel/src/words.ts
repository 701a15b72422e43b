import { type Field, limbBits, limbsOf } from './field.js'
import { type Lanes, single } from './lanes.js'
import { type Arithmetic, at, keep, type Limbs, productColumns, reduce } from './montgomery.js'
import { type Code, i64 } from './wasm/code.js'
import type { ModuleBuilder } from './wasm/module.js'

/** Bytes of a number outside the kernel: eight little-endian 32-bit words. */
export const numberBytes = 32

const limbMask = i64.const(2 ** limbBits - 1)
const numberBits = 8 * numberBytes

/**
 * (result, number): the element whose Montgomery form is `number · factor`, below 2. With `enteringFactor` the number
 * is a plain value; other factors change from one Montgomery radix to ours. Reads up to five bytes behind the number.
 * The element is one lane.
 */
export function defineImport(
  module: ModuleBuilder,
  field: Field,
  factor: bigint,
  { one: lanes }: Lanes = single,
): number {
  const factorLimbs = limbsOf(field.enter(factor))
  return module.define({
    params: ['i32', 'i32'],
    body(scope) {
      const arithmetic = { field, lanes, scope }
      const limbs = factorLimbs.map((_, limb) => {
        const bit = limb * limbBits
        const loaded = i64.load(scope.param(1).get, Math.floor(bit / 8))
        const shifted = i64.shrU(loaded, i64.const(bit % 8))
        const bits = Math.min(limbBits, numberBits - bit)
        return i64.and(shifted, i64.const(2 ** bits - 1))
      })
      const number = keep(arithmetic, limbs)
      const columns = productColumns(arithmetic, [
        { left: number.result, right: factorLimbs.map((limb) => i64.const(limb)) },
      ])
      const store = (limb: number, sum: Code) => lanes.store(scope.param(0).get, limb, sum)
      return [number.setup, reduce(arithmetic, columns, [], store)]
    },
  })
}

/** The factor that turns a plain number into Montgomery form: 2^261. */
export const enteringFactor = (field: Field): bigint => field.enter(1n)

/** (number, element): the plain value of one lane, reduced, as words. */
export function defineExport(module: ModuleBuilder, field: Field, { one: lanes }: Lanes = single): number {
  return module.define({
    params: ['i32', 'i32'],
    body(scope) {
      const arithmetic: Arithmetic = { field, lanes, scope }
      const element = keep(
        arithmetic,
        limbsOf(0n).map((_, limb) => lanes.load(scope.param(1).get, limb)),
      )
      const left = limbsOf(0n).map(() => scope.local('i64'))
      const one = limbsOf(1n).map((limb) => i64.const(limb))
      const leave = reduce(
        arithmetic,
        productColumns(arithmetic, [{ left: element.result, right: one }]),
        [],
        (limb, sum) => at(left, limb).set(sum),
      )
      const value = left.map((local) => local.get)
      return [
        element.setup,
        leave,
        lessPrimeIfAbove(arithmetic, value, (limb, code) => at(left, limb).set(code)),
        storeWords(scope.param(0).get, value),
      ]
    },
  })
}

/** Subtracts the prime from a value that equals it. A value that left Montgomery form is never above the prime. */
function lessPrimeIfAbove(
  { field, scope }: Arithmetic,
  value: Limbs,
  set: (limb: number, code: Code) => Code,
): Code {
  const less = value.map(() => scope.local('i64'))
  const borrow = scope.local('i64')
  const subtract = value.map((limb, index) => {
    const own = i64.sub(limb, i64.const(at(field.primeLimbs, index)))
    const difference = index === 0 ? own : i64.add(own, borrow.get)
    return [
      borrow.set(difference),
      at(less, index).set(borrow.get),
      borrow.set(i64.shrS(borrow.get, i64.const(limbBits))),
    ]
  })
  // All ones when the prime did not fit.
  const keepOld = scope.local('i64')
  const choose = value.map((limb, index) =>
    set(
      index,
      i64.or(
        i64.and(limb, keepOld.get),
        i64.and(i64.and(at(less, index).get, limbMask), i64.sub(i64.const(-1), keepOld.get)),
      ),
    ),
  )
  return [subtract, keepOld.set(i64.shrS(borrow.get, i64.const(63))), choose]
}

function storeWords(address: Code, value: Limbs): Code {
  return Array.from({ length: numberBytes / 4 }, (_, word) => {
    const first = Math.floor((32 * word) / limbBits)
    const skipped = 32 * word - first * limbBits
    const pieces = [0, 1, 2].flatMap((next) => {
      const limb = value[first + next]
      const shift = next * limbBits - skipped
      if (limb === undefined || shift >= 32) return []
      return [shift < 0 ? i64.shrU(limb, i64.const(-shift)) : i64.shl(limb, i64.const(shift))]
    })
    return i64.store32(
      address,
      pieces.reduce((left, right) => i64.or(left, right)),
      4 * word,
    )
  })
}
