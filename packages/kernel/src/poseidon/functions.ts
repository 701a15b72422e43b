import { type Field, limbBits, limbCount } from '../field.js'
import type { Lanes } from '../lanes.js'
import {
  type Arithmetic,
  at,
  type Columns,
  indices,
  karatsubaColumns,
  keep,
  type Limbs,
  loadElement,
  reduce,
  squareColumns,
} from '../montgomery.js'
import type { Code } from '../wasm/code.js'
import type { ModuleBuilder } from '../wasm/module.js'
import { loadSpread, spreadWords, storeSpread, sumColumns } from './spread-element.js'

/** Words of an S-box: the number that enters it, and the one that leaves it. */
export const boxWords = 2 * spreadWords
const outputOffset = spreadWords

/** The place of a row's operand: a box, counted from the box that the row is given. */
export type Operand = { readonly box: number; readonly part: 'number' | 'output' }

export type RowShape = {
  /** Added with factor 1. */
  readonly addend?: Operand
  /** Multiplied with the factors of the row, in this order. */
  readonly terms: readonly Operand[]
  readonly result: 'spread' | 'element'
}

const offsetOf = ({ box, part }: Operand) => box * boxWords + (part === 'output' ? outputOffset : 0)

/** Reduces columns into locals. */
function reduceToLocals(
  arithmetic: Arithmetic,
  columns: Columns,
  addends: readonly Limbs[] = [],
): { readonly setup: Code; readonly result: Limbs } {
  const { field, lanes, scope } = arithmetic
  const limbs = field.primeLimbs.map(() => scope.local(lanes.type))
  const setup = reduce(arithmetic, columns, addends, (limb, sum) => at(limbs, limb).set(lanes.narrow(sum)))
  return { setup, result: limbs.map((limb) => limb.get) }
}

/** (box): its output is its number to the power of 5. */
export function defineBox(module: ModuleBuilder, field: Field, lanes: Lanes): number {
  return module.define({
    params: ['i32'],
    body(scope) {
      const arithmetic = { field, lanes, scope }
      const box = scope.param(0).get
      const number = loadSpread(arithmetic, box)
      const squared = squareColumns(arithmetic, number.result)
      const square = reduceToLocals(arithmetic, squared.result)
      const fourthed = squareColumns(arithmetic, square.result)
      const fourth = reduceToLocals(arithmetic, fourthed.result)
      const fifthed = karatsubaColumns(arithmetic, fourth.result, number.result)
      const fifth = reduceToLocals(arithmetic, fifthed.result)
      return [
        [number, squared, square, fourthed, fourth, fifthed, fifth].map(({ setup }) => setup),
        storeSpread(arithmetic, box, outputOffset, fifth.result),
      ]
    },
  })
}

/** (result, box, row): evaluates a row of the schedule over boxes counted from the given one. */
export function defineRow(
  module: ModuleBuilder,
  field: Field,
  lanes: Lanes,
  shape: RowShape,
  scratch: number,
): number {
  return module.define({
    params: ['i32', 'i32', 'i32'],
    body(scope) {
      const arithmetic = { field, lanes, scope }
      const [result, box, row] = [scope.param(0).get, scope.param(1).get, scope.param(2).get]
      const offsets = shape.terms.map(offsetOf)
      const columns = sumColumns(arithmetic, { elements: box, offsets, factors: row, scratch })
      const constant = keep(
        arithmetic,
        indices(limbCount).map((limb) => lanes.load(row, offsets.length * spreadWords + limb)),
      )
      const addend = shape.addend && loadSpread(arithmetic, box, offsetOf(shape.addend))
      const addends = [constant.result, ...(addend ? [addend.result] : [])]
      const reduced = reduceToLocals(arithmetic, columns.result, addends)
      const store =
        shape.result === 'spread'
          ? storeSpread(arithmetic, result, 0, reduced.result)
          : reduced.result.map((limb, index) => lanes.store(result, index, limb))
      return [columns.setup, constant.setup, addend?.setup ?? [], reduced.setup, store]
    },
  })
}

/** (result, element, other): their sum, spread. */
export function defineSpreadSum(
  module: ModuleBuilder,
  field: Field,
  lanes: Lanes,
  other: 'element' | 'spread',
): number {
  return module.define({
    params: ['i32', 'i32', 'i32'],
    body(scope) {
      const arithmetic = { field, lanes, scope }
      const [result, left, right] = [scope.param(0).get, scope.param(1).get, scope.param(2).get]
      const element = loadElement(arithmetic, left)
      const added = (other === 'element' ? loadElement : loadSpread)(arithmetic, right)
      const limbs = element.result.map(() => scope.local(lanes.type))
      const carry = limbs.map((limb, index) => {
        const sum = lanes.widen(lanes.addOperands(at(element.result, index), at(added.result, index)))
        const below = limbs[index - 1]
        if (below === undefined) return limb.set(sum)
        return [
          limb.set(lanes.add(sum, lanes.shiftRight(below.get, limbBits))),
          below.set(lanes.narrow(lanes.low(below.get, limbBits))),
        ]
      })
      const carried = limbs.map((limb, index) =>
        index === limbCount - 1 ? lanes.narrow(limb.get) : limb.get,
      )
      return [element.setup, added.setup, carry, storeSpread(arithmetic, result, 0, carried)]
    },
  })
}
