import { limbCount, limbsOf } from '../field.js'
import { join, spread } from '../karatsuba.js'
import { single } from '../lanes.js'
import { type Arithmetic, at, type Columns, indices, keep, type Limbs, type Prepared } from '../montgomery.js'
import { type Code, control, i32, i64 } from '../wasm/code.js'
import type { Local } from '../wasm/module.js'

/** Levels of Karatsuba for sums of products. Two pay off, because a spread element is used in several products. */
const levels = 2
const wordCount = 6 ** levels

/** Bytes of an element with all the sums of limbs that products need, each a 32-bit word. */
export const spreadBytes = 4 * wordCount
/** Bytes that a sum of products keeps its parts in. */
export const scratchBytes = 8 * wordCount

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

/** The limbs of a spread element. */
export function loadSpread(arithmetic: Arithmetic, address: Code, offset = 0): Prepared<Limbs> {
  return keep(
    arithmetic,
    wordOfLimb.map((word) => i64.load32U(address, offset + 4 * word)),
  )
}

/** Stores limbs with all their sums. */
export function storeSpread(arithmetic: Arithmetic, address: Code, offset: number, limbs: Limbs): Code {
  const code: Code[] = []
  const sum = (a: Code, b: Code) => {
    const kept = keep(arithmetic, [i64.add(a, b)])
    code.push(kept.setup)
    return at(kept.result, 0)
  }
  const words = spread(limbs, levels, sum).flat()
  return [code, words.map((word, index) => single.store(address, offset / 4 + index, word))]
}

/** The operands and the scratch memory of a sum of products. */
export type SumOperands = {
  /** Elements stand at these offsets from here. */
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
  const { scratch } = operands
  const setup: Code[] = [multiplyParts(arithmetic, operands)]
  const kept = (code: Code) => {
    const local = keep(arithmetic, [code])
    setup.push(local.setup)
    return at(local.result, 0)
  }
  const columns = join(
    indices(wordCount).map((word) => [i64.load(i32.const(0), scratch + 8 * word)]),
    levels,
    { add: i64.add, subtract: i64.sub, keep: kept },
  )
  return { setup, result: columns.map((column) => [column]) }
}

function multiplyParts({ scope }: Arithmetic, { elements, offsets, factors, scratch }: SumOperands): Code {
  const [element, factor, part] = [scope.local('i32'), scope.local('i32'), scope.local('i32')]
  const advance = (local: Local, bytes: number) => local.set(i32.add(local.get, i32.const(bytes)))
  const turn = indices(wordsPerTurn).map((word) => {
    const products = offsets.map((offset, index) =>
      i64.mul(
        i64.load32U(element.get, offset + 4 * word),
        i64.load32U(factor.get, index * spreadBytes + 4 * word),
      ),
    )
    const sum = products.reduce((a, b) => i64.add(a, b))
    return i64.store(part.get, sum, 8 * word)
  })
  return [
    element.set(elements),
    factor.set(factors),
    part.set(i32.const(scratch)),
    control.forever([
      turn,
      advance(element, 4 * wordsPerTurn),
      advance(factor, 4 * wordsPerTurn),
      advance(part, 8 * wordsPerTurn),
      control.leaveIf(1, i32.eq(part.get, i32.const(scratch + scratchBytes))),
    ]),
  ]
}
