import { type Field, limbBits, limbCount } from './field.js'
import { join, spread } from './karatsuba.js'
import type { Lanes } from './lanes.js'
import type { Code } from './wasm/code.js'
import type { FunctionScope, Local } from './wasm/module.js'

/** The function that code is generated for. */
export type Generating = { readonly lanes: Lanes; readonly scope: FunctionScope }

/** The context in which arithmetic code is generated. */
export type Arithmetic = Generating & { readonly field: Field }

/** Instructions to run first, and the locals that then hold the result. */
export type Prepared<Result> = { readonly setup: Code; readonly result: Result }

/** An element in locals: one operand per limb, lowest first. */
export type Limbs = readonly Code[]

/** Summands of each power of 2^29 of a product, lowest power first. */
export type Columns = readonly (readonly Code[])[]

/** The item at an index that exists by construction. */
export function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index]
  if (item === undefined) throw new RangeError(`nothing at ${index}`)
  return item
}

export function indices(length: number): number[] {
  const all: number[] = []
  for (let index = 0; index < length; index++) all.push(index)
  return all
}

/** Puts codes into fresh locals. */
export function keep({ lanes, scope }: Generating, codes: readonly Code[]): Prepared<Limbs> {
  const kept = codes.map((code) => ({ code, local: scope.local(lanes.type) }))
  return {
    setup: kept.map(({ code, local }) => local.set(code)),
    result: kept.map(({ local }) => local.get),
  }
}

/** Loads an element from memory. */
export function loadElement(arithmetic: Generating, address: Code): Prepared<Limbs> {
  return keep(
    arithmetic,
    indices(limbCount).map((limb) => arithmetic.lanes.load(address, limb)),
  )
}

/** Columns of the sum of products, every limb with every limb. */
export function productColumns(
  { lanes }: Pick<Generating, 'lanes'>,
  terms: readonly { readonly left: Limbs; readonly right: Limbs }[],
): Columns {
  const length = terms[0]?.left.length ?? 0
  return indices(2 * length - 1).map((column) =>
    terms.flatMap(({ left, right }) =>
      indices(length)
        .filter((limb) => column - limb >= 0 && column - limb < length)
        .map((limb) => lanes.multiply(at(left, limb), at(right, column - limb))),
    ),
  )
}

/**
 * Columns of one product by a level of Karatsuba: 54 products of limbs instead of 81. A second level would cost more
 * additions than it saves. Limbs may reach 2^31.
 */
export function karatsubaColumns(arithmetic: Generating, left: Limbs, right: Limbs): Prepared<Columns> {
  const { lanes } = arithmetic
  const setup: Code[] = []
  const kept = (code: Code): Code => {
    const { setup: set, result } = keep(arithmetic, [code])
    setup.push(set)
    return at(result, 0)
  }
  const sum = (a: Code, b: Code) => kept(lanes.addOperands(a, b))
  const rights = spread(right, 1, sum)
  const products = spread(left, 1, sum).map((block, index) =>
    productColumns(arithmetic, [{ left: block, right: at(rights, index) }]).map((column) =>
      kept(column.reduce((a, b) => lanes.add(a, b))),
    ),
  )
  const columns = join(products, 1, { add: lanes.add, subtract: lanes.subtract, keep: (code) => code })
  return { setup, result: columns.map((column) => [column]) }
}

/** Columns of a square: mixed products once, against doubled limbs. */
export function squareColumns(arithmetic: Generating, element: Limbs): Prepared<Columns> {
  const { lanes } = arithmetic
  const doubled = keep(
    arithmetic,
    element.map((limb) => lanes.addOperands(limb, limb)),
  )
  const result = indices(2 * limbCount - 1).map((column) =>
    indices(limbCount)
      .filter((limb) => limb <= column - limb && column - limb < limbCount)
      .map((limb) =>
        lanes.multiply(
          at(limb === column - limb ? element : doubled.result, limb),
          at(element, column - limb),
        ),
      ),
  )
  return { setup: doubled.setup, result }
}

/** Multiplies a sum below 2^32 by a constant limb, with shifts where they suffice. */
function timesConstant(lanes: Lanes, sum: Code, limb: number): Code {
  const above = Math.log2(limb + 1)
  const below = Math.log2(limb - 1)
  if (limb === 1) return sum
  if (Number.isInteger(above)) return lanes.subtract(lanes.shiftLeft(sum, above), sum)
  if (Number.isInteger(below)) return lanes.add(lanes.shiftLeft(sum, below), sum)
  return lanes.multiply(lanes.narrow(sum), lanes.constant(limb))
}

/**
 * Montgomery reduction, column by column: adds the multiple of the prime that clears the low nine limbs, then drops
 * these limbs. `addends` are added to the remaining limbs, where they share the carries at no cost. The result is below
 * prime + columns / 2^261 + addends. `use` is called with each carried limb, lowest first.
 */
export function reduce(
  { field, lanes, scope }: Arithmetic,
  columns: Columns,
  addends: readonly Limbs[],
  use: (limb: number, sum: Code) => Code,
): Code {
  const [sum, clearing] = [scope.local(lanes.type), scope.local(lanes.type)]
  const quotients: Local[] = indices(limbCount).map(() => scope.local(lanes.type))
  const timesPrime = (quotient: number, limb: number) =>
    lanes.multiply(at(quotients, quotient).get, lanes.constant(at(field.primeLimbs, limb)))
  const total = (first: readonly Code[], more: readonly Code[]) =>
    [...first, ...more].reduce((left, right) => lanes.add(left, right))
  const code: Code[] = []
  for (let column = 0; column < limbCount; column++) {
    const carried = column === 0 ? [] : [sum.get]
    const earlier = indices(column).map((quotient) => timesPrime(quotient, column - quotient))
    // The carry is added last, so that the rest of the column can be computed in parallel with the lower columns.
    code.push(sum.set(total([...at(columns, column), ...earlier], carried)))
    code.push(clearing.set(lanes.low(timesConstant(lanes, sum.get, field.negativeInverse), limbBits)))
    code.push(at(quotients, column).set(lanes.narrow(clearing.get)))
    const cleared = timesConstant(lanes, clearing.get, at(field.primeLimbs, 0))
    code.push(sum.set(lanes.shiftRight(lanes.add(sum.get, cleared), limbBits)))
  }
  for (let column = limbCount; column < 2 * limbCount; column++) {
    const limb = column - limbCount
    const late = indices(limbCount)
      .filter((quotient) => column - quotient < limbCount)
      .map((quotient) => timesPrime(quotient, column - quotient))
    const added = addends.map((limbs) => lanes.widen(at(limbs, limb)))
    code.push(sum.set(total([...(columns[column] ?? []), ...late, ...added], [sum.get])))
    const isTop = limb === limbCount - 1
    code.push(use(limb, isTop ? sum.get : lanes.low(sum.get, limbBits)))
    if (!isTop) code.push(sum.set(lanes.shiftRight(sum.get, limbBits)))
  }
  return code
}
