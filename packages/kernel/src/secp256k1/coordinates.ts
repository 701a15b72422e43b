/**
 * Coordinates of secp256k1: the field of 2^256 − 2^32 − 977, two elements at once. What lies above 2^261 folds back by one
 * product with a small number, so a product costs little more than half of one in Montgomery form, and values are plain.
 */
import { limbBits, limbCount } from '../field.js'
import { pair } from '../lanes.js'
import {
  at,
  type Columns,
  indices,
  karatsubaColumns,
  type Limbs,
  loadElement,
  squareColumns,
} from '../montgomery.js'
import { type Code, i32 } from '../wasm/code.js'
import type { FunctionScope, ModuleBuilder } from '../wasm/module.js'

export const coordinatePrime = (1n << 256n) - (1n << 32n) - 977n

/** Bytes of two elements, their limbs alternating. */
export const pairBytes = pair.limbBytes * limbCount

/** 2^261 is 2^37 + 32 · 977 in this field: so much in the lowest limb, and a shift in the one above. */
const folded = { low: 32 * 977, shift: 8 }
const top = limbCount - 1

const fold = (sum: Code): Code => pair.multiply(pair.narrow(sum), pair.constant(folded.low))

/**
 * Functions by their index in the module; parameters are addresses of pairs, the result's first, and the result may lie over
 * an argument. Every result has limbs below 2^29 + 2^25 and may be any number below 2^262 of the same value.
 */
export type Coordinates = {
  /** (result, a, b) */
  readonly multiply: number
  /** (result, a) */
  readonly square: number
  /** (result, a, b, …): the sum of all, each times its factor. The factors of one function come to less than 32. */
  linear(factors: readonly number[]): number
}

export function defineCoordinates(module: ModuleBuilder): Coordinates {
  const known = new Map<string, number>()
  return {
    multiply: module.define({
      params: ['i32', 'i32', 'i32'],
      exportAs: 'multiply',
      body(scope) {
        const generating = { lanes: pair, scope }
        const left = loadElement(generating, scope.param(1).get)
        const right = loadElement(generating, scope.param(2).get)
        const columns = karatsubaColumns(generating, left.result, right.result)
        return [left.setup, right.setup, columns.setup, storeFolded(scope, columns.result)]
      },
    }),
    square: module.define({
      params: ['i32', 'i32'],
      exportAs: 'square',
      body(scope) {
        const generating = { lanes: pair, scope }
        const element = loadElement(generating, scope.param(1).get)
        const columns = squareColumns(generating, element.result)
        return [element.setup, columns.setup, storeFolded(scope, columns.result)]
      },
    }),
    linear(factors) {
      const name = `linear${factors.join('_')}`
      const index = known.get(name) ?? defineLinear(module, factors, name)
      known.set(name, index)
      return index
    },
  }
}

/** Folds the columns of a product and stores them. */
function storeFolded(scope: FunctionScope, columns: Columns): Code {
  const sum = scope.local(pair.type)
  const low = indices(limbCount).map(() => scope.local(pair.type))
  const high = indices(limbCount).map(() => scope.local(pair.type))
  const total = (codes: readonly Code[]) => codes.reduce((left, right) => pair.add(left, right))
  const carry = pair.shiftRight(sum.get, limbBits)
  const rest = pair.low(sum.get, limbBits)
  // What is above 2^261 is carried first, so that the factors of the fold are limbs.
  const carriedHigh = [
    sum.set(total(at(columns, top))),
    at(low, top).set(rest),
    indices(top).map((limb) => [
      sum.set(total([...at(columns, limbCount + limb), carry])),
      at(high, limb).set(rest),
    ]),
    at(high, top).set(carry),
  ]
  /** The highest limb folds to above 2^261 again, and from there to the lowest two. */
  const twice = [
    [pair.multiply(pair.narrow(at(high, top).get), pair.constant(folded.low << folded.shift))],
    [pair.shiftLeft(at(high, top).get, 2 * folded.shift)],
  ]
  const foldedLow = low.map((local, limb) => [
    sum.set(
      total([
        ...(limb === top ? [local.get] : at(columns, limb)),
        fold(at(high, limb).get),
        ...(limb > 0 ? [pair.shiftLeft(at(high, limb - 1).get, folded.shift)] : []),
        ...(twice[limb] ?? []),
        ...(limb > 0 ? [carry] : []),
      ]),
    ),
    local.set(rest),
  ])
  const above = scope.local(pair.type)
  return [
    carriedHigh,
    foldedLow,
    above.set(carry),
    sum.set(pair.add(at(low, 0).get, fold(above.get))),
    at(low, 0).set(rest),
    at(low, 1).set(total([at(low, 1).get, pair.shiftLeft(above.get, folded.shift), carry])),
    store(
      scope,
      low.map(({ get }) => get),
    ),
  ]
}

const store = (scope: FunctionScope, limbs: Limbs): Code =>
  limbs.map((limb, index) => pair.store(scope.param(0).get, index, pair.narrow(limb)))

/** 64 times the prime, each limb large enough to subtract any limb from it. */
const padding = (() => {
  const value = 64n * coordinatePrime
  const digit = (limb: number) => (value >> BigInt(limb * limbBits)) & ((1n << BigInt(limbBits)) - 1n)
  const borrow = 1n << BigInt(limbBits + 1)
  return indices(limbCount).map((limb) =>
    limb === top ? (value >> BigInt(top * limbBits)) - 2n : digit(limb) + borrow - (limb > 0 ? 2n : 0n),
  )
})()

function defineLinear(module: ModuleBuilder, factors: readonly number[], exportAs: string): number {
  const subtracted = factors.reduce((sum, factor) => sum + Math.max(0, -factor), 0)
  return module.define({
    params: ['i32', ...factors.map(() => 'i32' as const)],
    exportAs,
    body(scope) {
      const term = (limb: number) => (sum: Code, factor: number, argument: number) => {
        const operand = pair.load(scope.param(1 + argument).get, limb)
        const size = Math.abs(factor)
        const product = size === 1 ? pair.widen(operand) : pair.multiply(operand, pair.constant(size))
        return factor < 0 ? pair.subtract(sum, product) : pair.add(sum, product)
      }
      const sum = scope.local(pair.type)
      const limbs = indices(limbCount).map(() => scope.local(pair.type))
      const carry = pair.shiftRight(sum.get, limbBits)
      const carried = limbs.map((local, limb) => {
        const start = pair.sumConstant(BigInt(subtracted) * at(padding, limb))
        const own = factors.reduce(term(limb), start)
        return [sum.set(limb === 0 ? own : pair.add(own, carry)), local.set(pair.low(sum.get, limbBits))]
      })
      return [
        carried,
        sum.set(carry),
        at(limbs, 0).set(pair.add(at(limbs, 0).get, fold(sum.get))),
        at(limbs, 1).set(pair.add(at(limbs, 1).get, pair.shiftLeft(sum.get, folded.shift))),
        store(
          scope,
          limbs.map(({ get }) => get),
        ),
      ]
    },
  })
}

/** The address so many pairs behind another. */
export const behind = (address: Code, pairs: number): Code =>
  pairs === 0 ? address : i32.add(address, i32.const(pairs * pairBytes))
