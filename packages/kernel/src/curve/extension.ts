import { type Field, limbCount } from '../field.js'
import { paddedMultiple } from '../field-functions.js'
import { pair } from '../lanes.js'
import {
  type Arithmetic,
  at,
  type Columns,
  indices,
  karatsubaColumns,
  keep,
  type Limbs,
  productColumns,
  reduce,
} from '../montgomery.js'
import { type Code, control, i32 } from '../wasm/code.js'
import type { FunctionScope, ModuleBuilder } from '../wasm/module.js'

/** The quadratic extension by i² = −1, two elements at a time: real limbs first, then imaginary ones. */
const limbsAt = (address: Code, part: number): Code[] =>
  indices(limbCount).map((limb) => pair.load(address, part * limbCount + limb))

const load = (arithmetic: Arithmetic, address: Code, part: number) => keep(arithmetic, limbsAt(address, part))

const store = (arithmetic: Arithmetic, address: Code, part: number, columns: Columns): Code =>
  reduce(arithmetic, columns, [], (limb, sum) =>
    pair.store(address, part * limbCount + limb, pair.narrow(sum)),
  )

const sumOf = (left: Limbs, right: Limbs): Code[] =>
  left.map((limb, index) => pair.addOperands(limb, at(right, index)))

/** Eight times the prime minus the element, limb by limb and not carried: limbs stay below 2^30. */
const negated = (field: Field, element: Limbs): Code[] => {
  const eight = paddedMultiple(field, 8)
  return element.map((limb, index) =>
    pair.narrow(pair.subtract(pair.widen(pair.constant(at(eight, index))), pair.widen(limb))),
  )
}

const columnCount = 2 * limbCount - 1
const productBytes = pair.sumBytes * columnCount
/** Memory for the three products of a multiplication. */
export const extensionScratchBytes = 3 * productBytes

/**
 * (result, a, b): below 2 for a and b below 7. Three products give four, because a0·b1 + a1·b0 is
 * (a0 + a1)(b0 + b1) − a0·b0 − a1·b1. A function each, and columns in memory between them: the WebAssembly compiler
 * optimizes one large function badly. The columns of the real part reach 9·(2^60 + 2^58) and leave room for the
 * reduction's 9·2^58.
 */
export function defineExtensionMultiply(module: ModuleBuilder, field: Field, scratch: number): number {
  const factors: readonly ((address: Code) => Code[])[] = [
    (address) => limbsAt(address, 0),
    (address) => limbsAt(address, 1),
    (address) => sumOf(limbsAt(address, 0), limbsAt(address, 1)),
  ]
  const products = factors.map((factor, index) =>
    defineProduct(module, field, scratch + index * productBytes, factor),
  )
  const load = (product: number, column: number) =>
    pair.loadSum(i32.const(scratch + product * productBytes), column)
  // A multiple of the prime, of which each column is at least as large as that of any a1·b1.
  const enough = squareOf(paddedMultiple(field, 8))
  const parts = [
    (column: number) => pair.add(load(0, column), pair.sumConstant(at(enough, column))),
    (column: number) => pair.subtract(load(2, column), load(0, column)),
  ].map((minuend, part) =>
    module.define({
      params: ['i32'],
      body(scope) {
        const columns = indices(columnCount).map((column) => [
          pair.subtract(minuend(column), load(1, column)),
        ])
        return store({ field, lanes: pair, scope }, scope.param(0).get, part, columns)
      },
    }),
  )
  return module.define({
    params: ['i32', 'i32', 'i32'],
    body: (scope) => [
      products.map((product) => control.call(product, scope.param(1).get, scope.param(2).get)),
      parts.map((part) => control.call(part, scope.param(0).get)),
    ],
  })
}

/** (a, b): the columns of the product of their factors go to memory. */
function defineProduct(
  module: ModuleBuilder,
  field: Field,
  address: number,
  factor: (element: Code) => Code[],
): number {
  return module.define({
    params: ['i32', 'i32'],
    body(scope) {
      const arithmetic = { field, lanes: pair, scope }
      const a = keep(arithmetic, factor(scope.param(0).get))
      const b = keep(arithmetic, factor(scope.param(1).get))
      const product = karatsubaColumns(arithmetic, a.result, b.result)
      return [
        [a, b, product].map(({ setup }) => setup),
        product.result.flat().map((column, index) => pair.storeSum(i32.const(address), index, column)),
      ]
    },
  })
}

/** Columns of the square of a number that is known. */
const squareOf = (limbs: readonly number[]): bigint[] =>
  indices(columnCount).map((column) =>
    limbs.reduce((sum, limb, index) => sum + BigInt(limb) * BigInt(limbs[column - index] ?? 0), 0n),
  )

/**
 * (result, a): below 2 for a below 4. (a0 + a1)(a0 − a1) and 2·a0·a1; the first has limbs up to 2^30 and 1.5·2^30, so
 * its columns reach 13.5·2^60, and with the reduction's 9·2^58 just fit 64 bits.
 */
export function defineExtensionSquare(module: ModuleBuilder, field: Field): number {
  return module.define({
    params: ['i32', 'i32'],
    body(scope: FunctionScope) {
      const arithmetic = { field, lanes: pair, scope }
      const [result, element] = [scope.param(0).get, scope.param(1).get]
      const a = [load(arithmetic, element, 0), load(arithmetic, element, 1)] as const
      const sum = keep(arithmetic, sumOf(a[0].result, a[1].result))
      const difference = keep(arithmetic, sumOf(a[0].result, negated(field, a[1].result)))
      const doubled = keep(arithmetic, sumOf(a[0].result, a[0].result))
      return [
        [...a, sum, difference, doubled].map(({ setup }) => setup),
        store(
          arithmetic,
          result,
          0,
          productColumns(arithmetic, [{ left: sum.result, right: difference.result }]),
        ),
        store(
          arithmetic,
          result,
          1,
          productColumns(arithmetic, [{ left: doubled.result, right: a[1].result }]),
        ),
      ]
    },
  })
}
