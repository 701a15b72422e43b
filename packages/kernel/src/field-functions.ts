import { type Field, limbBits, limbCount, limbsOf } from './field.js'
import { type Lanes, single } from './lanes.js'
import {
  type Arithmetic,
  at,
  karatsubaColumns,
  type Limbs,
  loadElement,
  reduce,
  squareColumns,
} from './montgomery.js'
import { type Code, control, i64 } from './wasm/code.js'
import type { FunctionScope, ModuleBuilder } from './wasm/module.js'

/**
 * Functions over elements in memory, by their index in the module; parameters are addresses, the result's first, and
 * the result may lie over an argument. Elements are Montgomery forms that need not be reduced: the notes say how many
 * times the prime they may reach. Arguments of a product may reach 128 when multiplied with each other.
 */
export type FieldFunctions = {
  /** (result, a, b): below 2. */
  readonly multiply: number
  /** (result, a): below 2. */
  readonly square: number
  /** (result, a, b): a and b together. */
  readonly add: number
  /** (result, a, b): a + 4; b at most 4. */
  readonly subtract: number
  /** (result, a): below 1; a at most 8. Only this form has a unique zero. Works on one lane. */
  readonly canonical: number
}

export type FieldFunctionOptions = {
  readonly field: Field
  readonly lanes?: Lanes
  /** Exports the functions too, under this prefix: `frMultiply` … */
  readonly exportPrefix?: string
}

/** The prime times `multiple`, each limb but the top one large enough to subtract any limb from it. */
export function paddedMultiple(field: Field, multiple: number): readonly number[] {
  const limbs = limbsOf(field.prime * BigInt(multiple))
  const borrow = 2 ** limbBits
  return limbs.map((limb, index) => limb + (index < limbCount - 1 ? borrow : 0) - (index > 0 ? 1 : 0))
}

/** Propagates carries through the sums and stores them as an element. */
export function storeCarried({ lanes, scope }: Arithmetic, address: Code, sums: readonly Code[]): Code {
  const carry = scope.local(lanes.type)
  return sums.map((sum, limb) => {
    const total = limb === 0 ? sum : lanes.add(lanes.shiftRight(carry.get, limbBits), sum)
    const isTop = limb === limbCount - 1
    return isTop
      ? lanes.store(address, limb, lanes.narrow(total))
      : [carry.set(total), lanes.store(address, limb, lanes.narrow(lanes.low(carry.get, limbBits)))]
  })
}

function subtractOnce(arithmetic: Arithmetic, address: Code, element: Limbs, multiple: number): Code {
  const { field, lanes, scope } = arithmetic
  const taken = limbsOf(field.prime * BigInt(multiple))
  const differences = taken.map(() => scope.local('i64'))
  const borrow = scope.local('i64')
  const run = differences.map((difference, limb) => {
    const own = i64.sub(at(element, limb), i64.const(at(taken, limb)))
    const total = limb === 0 ? own : i64.add(own, borrow.get)
    return [borrow.set(difference.tee(total)), borrow.set(i64.shrS(borrow.get, i64.const(limbBits)))]
  })
  const keep = differences.map((difference, limb) =>
    lanes.store(address, limb, lanes.low(difference.get, limbBits)),
  )
  const isNegative = i64.ltS(borrow.get, i64.const(0))
  return [run, control.if(isNegative, [], keep)]
}

/** Defines a field's arithmetic in a module. */
export function defineField(
  module: ModuleBuilder,
  { field, lanes = single, exportPrefix }: FieldFunctionOptions,
): FieldFunctions {
  const exported = (name: string) =>
    exportPrefix === undefined ? {} : { exportAs: `${exportPrefix}${name}` }
  const binary = (name: string, body: (arithmetic: Arithmetic, left: Limbs, right: Limbs) => Code) =>
    module.define({
      params: ['i32', 'i32', 'i32'],
      ...exported(name),
      body(scope) {
        const arithmetic = { field, lanes, scope }
        const left = loadElement(arithmetic, scope.param(1).get)
        const right = loadElement(arithmetic, scope.param(2).get)
        return [left.setup, right.setup, body(arithmetic, left.result, right.result)]
      },
    })
  const unary = (name: string, body: (arithmetic: Arithmetic, element: Limbs) => Code) =>
    module.define({
      params: ['i32', 'i32'],
      ...exported(name),
      body(scope) {
        const arithmetic = { field, lanes, scope }
        const element = loadElement(arithmetic, scope.param(1).get)
        return [element.setup, body(arithmetic, element.result)]
      },
    })
  const result = (scope: FunctionScope) => scope.param(0).get
  const storing = (scope: FunctionScope) => (limb: number, sum: Code) =>
    lanes.store(result(scope), limb, lanes.narrow(sum))
  const four = paddedMultiple(field, 4)

  return {
    multiply: binary('Multiply', (arithmetic, left, right) => {
      const columns = karatsubaColumns(arithmetic, left, right)
      return [columns.setup, reduce(arithmetic, columns.result, [], storing(arithmetic.scope))]
    }),
    square: unary('Square', (arithmetic, element) => {
      const columns = squareColumns(arithmetic, element)
      return [columns.setup, reduce(arithmetic, columns.result, [], storing(arithmetic.scope))]
    }),
    add: binary('Add', (arithmetic, left, right) =>
      storeCarried(
        arithmetic,
        result(arithmetic.scope),
        left.map((limb, index) => lanes.add(lanes.widen(limb), lanes.widen(at(right, index)))),
      ),
    ),
    subtract: binary('Subtract', (arithmetic, left, right) =>
      storeCarried(
        arithmetic,
        result(arithmetic.scope),
        left.map((limb, index) =>
          lanes.subtract(
            lanes.add(lanes.widen(limb), lanes.widen(lanes.constant(at(four, index)))),
            lanes.widen(at(right, index)),
          ),
        ),
      ),
    ),
    canonical: defineCanonical(module, field, lanes.one, exported('Canonical')),
  }
}

function defineCanonical(
  module: ModuleBuilder,
  field: Field,
  lanes: Lanes,
  exported: { exportAs?: string },
): number {
  return module.define({
    params: ['i32', 'i32'],
    ...exported,
    body(scope) {
      const arithmetic = { field, lanes, scope }
      const address = scope.param(0).get
      const copied = loadElement(arithmetic, scope.param(1).get)
      const copy = copied.result.map((limb, index) => lanes.store(address, index, limb))
      const steps = [4, 2, 1].map((multiple) => {
        const element = loadElement(arithmetic, address)
        return [element.setup, subtractOnce(arithmetic, address, element.result, multiple)]
      })
      return [copied.setup, copy, steps]
    },
  })
}
