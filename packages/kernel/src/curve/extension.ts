import { type Field, limbCount } from '../field.js'
import { paddedMultiple } from '../field-functions.js'
import { pair } from '../lanes.js'
import { type Arithmetic, at, type Columns, keep, type Limbs, productColumns, reduce } from '../montgomery.js'
import { type Code, control } from '../wasm/code.js'
import type { FunctionScope, ModuleBuilder } from '../wasm/module.js'

/** The quadratic extension by i² = −1, two elements at a time: real limbs first, then imaginary ones. */
const load = (arithmetic: Arithmetic, address: Code, part: number) =>
  keep(
    arithmetic,
    Array.from({ length: limbCount }, (_, limb) => pair.load(address, part * limbCount + limb)),
  )

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

/**
 * (result, a, b): below 2 for a and b below 8; the result must lie apart. Each part is the sum of two products under
 * one reduction; the columns reach 9·(2^58 + 2^59) and leave room for the reduction's 9·2^58. The two parts are separate
 * functions, because the WebAssembly compiler optimizes one large function badly.
 */
export function defineExtensionMultiply(module: ModuleBuilder, field: Field): number {
  const real = definePart(module, field, 0)
  const imaginary = definePart(module, field, 1)
  return module.define({
    params: ['i32', 'i32', 'i32'],
    body(scope: FunctionScope) {
      const params = [0, 1, 2].map((index) => scope.param(index).get)
      return [control.call(real, ...params), control.call(imaginary, ...params)]
    },
  })
}

function definePart(module: ModuleBuilder, field: Field, part: 0 | 1): number {
  return module.define({
    params: ['i32', 'i32', 'i32'],
    body(scope: FunctionScope) {
      const arithmetic = { field, lanes: pair, scope }
      const [left, right] = [scope.param(1).get, scope.param(2).get]
      const a = [load(arithmetic, left, 0), load(arithmetic, left, 1)] as const
      const b = [load(arithmetic, right, 0), load(arithmetic, right, 1)] as const
      const [forReal, forImaginary] =
        part === 0 ? [b[0], keep(arithmetic, negated(field, b[1].result))] : [b[1], b[0]]
      const columns = productColumns(arithmetic, [
        { left: a[0].result, right: forReal.result },
        { left: a[1].result, right: forImaginary.result },
      ])
      const needed = part === 0 ? [...a, ...b, forImaginary] : [...a, ...b]
      return [needed.map(({ setup }) => setup), store(arithmetic, scope.param(0).get, part, columns)]
    },
  })
}

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
