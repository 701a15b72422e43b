import { limbCount, limbsOf } from '../field.js'
import { join, spread } from '../karatsuba.js'
import { single } from '../lanes.js'
import { type Arithmetic, at, type Columns, indices, keep, type Limbs, type Prepared } from '../montgomery.js'
import { type Code, i32, i64 } from '../wasm/code.js'

/** Levels of Karatsuba for sums of products: what is spread once is used in several products. */
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

/** An element in memory, times a constant in memory. */
export type SpreadTerm = { readonly element: Code; readonly offset: number }

/**
 * Columns of a sum of products. Parts go through memory on their way: the compiler keeps the order of loads and
 * stores, and so has only one part's operands in registers at a time.
 */
export function sumColumns(
  arithmetic: Arithmetic,
  terms: readonly SpreadTerm[],
  factors: Code,
  scratch: number,
): Prepared<Columns> {
  const parts = indices(wordCount).map((word) => {
    const products = terms.map(({ element, offset }, index) =>
      i64.mul(i64.load32U(element, offset + 4 * word), i64.load32U(factors, index * spreadBytes + 4 * word)),
    )
    return i64.store(
      i32.const(0),
      products.reduce((a, b) => i64.add(a, b)),
      scratch + 8 * word,
    )
  })
  const setup: Code[] = [parts]
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
