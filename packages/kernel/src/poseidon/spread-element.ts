import { limbCount, limbsOf } from '../field.js'
import { join, spread } from '../karatsuba.js'
import type { Lanes } from '../lanes.js'
import { type Arithmetic, at, type Columns, indices, keep, type Limbs, type Prepared } from '../montgomery.js'
import { type Code, control, i32 } from '../wasm/code.js'
import type { Local } from '../wasm/module.js'

/** Levels of Karatsuba for sums of products. Two pay off, because a spread element is used in several products. */
const levels = 2
/** Words of an element with all the sums of limbs that products need, each an operand. */
export const spreadWords = 6 ** levels
/** Bytes that a sum of products keeps its parts in. */
export const scratchBytes = (lanes: Lanes): number => lanes.sumBytes * spreadWords

/** The limbs that each word is the sum of. */
const summed: readonly (readonly number[])[] = spread(
  indices(limbCount).map((limb) => [limb]),
  levels,
  (a, b) => [...a, ...b],
).flat()

/** The word at which each limb stands unchanged. */
const wordOfLimb: readonly number[] = indices(limbCount).map((limb) =>
  summed.findIndex((limbs) => limbs.length === 1 && limbs[0] === limb),
)

/** The words of a constant. */
export function spreadConstant(form: bigint): number[] {
  const limbs = limbsOf(form)
  return summed.map((parts) => parts.reduce((sum, limb) => sum + at(limbs, limb), 0))
}

/** The limbs of a spread element, which begins `offset` words behind the address. */
export function loadSpread(arithmetic: Arithmetic, address: Code, offset = 0): Prepared<Limbs> {
  return keep(
    arithmetic,
    wordOfLimb.map((word) => arithmetic.lanes.load(address, offset + word)),
  )
}

/** Stores limbs with all their sums. */
export function storeSpread(arithmetic: Arithmetic, address: Code, offset: number, limbs: Limbs): Code {
  const { lanes } = arithmetic
  const code: Code[] = []
  const sum = (a: Code, b: Code) => {
    const kept = keep(arithmetic, [lanes.addOperands(a, b)])
    code.push(kept.setup)
    return at(kept.result, 0)
  }
  const words = spread(limbs, levels, sum).flat()
  return [code, words.map((word, index) => lanes.store(address, offset + index, word))]
}

/** The operands and the scratch memory of a sum of products. */
export type SumOperands = {
  /** Elements stand at these offsets from here, counted in words. */
  readonly elements: Code
  readonly offsets: readonly number[]
  /** As many factors, one after the other. */
  readonly factors: Code
  /** Address of `scratchBytes`. */
  readonly scratch: number
}

/** Words of every operand that one pass of the loop multiplies. */
const wordsPerTurn = 6

/**
 * Columns of a sum of products. Partial sums go through memory: the compiler keeps the order of loads and stores, so
 * only one part's operands are in registers at a time.
 */
export function sumColumns(arithmetic: Arithmetic, operands: SumOperands): Prepared<Columns> {
  const { lanes } = arithmetic
  const scratch = i32.const(operands.scratch)
  const setup: Code[] = [multiplyParts(arithmetic, operands)]
  const kept = (code: Code) => {
    const local = keep(arithmetic, [code])
    setup.push(local.setup)
    return at(local.result, 0)
  }
  const columns = join(
    indices(spreadWords).map((word) => [lanes.loadSum(scratch, word)]),
    levels,
    { add: lanes.add, subtract: lanes.subtract, keep: kept },
  )
  return { setup, result: columns.map((column) => [column]) }
}

function multiplyParts(
  { lanes, scope }: Arithmetic,
  { elements, offsets, factors, scratch }: SumOperands,
): Code {
  const [element, factor, part] = [scope.local('i32'), scope.local('i32'), scope.local('i32')]
  const advance = (local: Local, bytes: number) => local.set(i32.add(local.get, i32.const(bytes)))
  const turn = indices(wordsPerTurn).map((word) => {
    const products = offsets.map((offset, index) =>
      lanes.multiply(
        lanes.load(element.get, offset + word),
        lanes.load(factor.get, index * spreadWords + word),
      ),
    )
    const sum = products.reduce((a, b) => lanes.add(a, b))
    return lanes.storeSum(part.get, word, sum)
  })
  return [
    element.set(elements),
    factor.set(factors),
    part.set(i32.const(scratch)),
    control.forever([
      turn,
      advance(element, lanes.limbBytes * wordsPerTurn),
      advance(factor, lanes.limbBytes * wordsPerTurn),
      advance(part, lanes.sumBytes * wordsPerTurn),
      control.leaveIf(1, i32.eq(part.get, i32.const(scratch + scratchBytes(lanes)))),
    ]),
  ]
}
