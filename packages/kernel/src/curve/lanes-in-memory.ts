import { elementBytes, limbCount } from '../field.js'
import { pair } from '../lanes.js'
import { type Code, i64x2, v128 } from '../wasm/code.js'
import type { FunctionScope } from '../wasm/module.js'

/** Limbs that one vector holds of a single element. */
const limbsPerVector = 4
/** Limbs in whole vectors; the top one stands alone. */
const wholeLimbs = limbCount - 1

/** Bytes of 32-bit words, those of the second operand counted from 4 on. */
const pick = (...words: readonly number[]): number[] =>
  words.flatMap((word) => [4 * word, 4 * word + 1, 4 * word + 2, 4 * word + 3])

/** One part of a coordinate of two points, as 64-bit sums: whole vectors are loaded and their words interleaved. */
export function loadTwo(scope: FunctionScope, part: number, first: Code, second: Code) {
  const start = part * elementBytes
  const setup: Code[] = []
  const result: Code[] = []
  for (let limb = 0; limb < wholeLimbs; limb += limbsPerVector) {
    const [a, b, mixed] = [scope.local('v128'), scope.local('v128'), scope.local('v128')]
    setup.push(a.set(v128.load(first, start + 4 * limb)), b.set(v128.load(second, start + 4 * limb)))
    setup.push(mixed.set(v128.shuffle(a.get, b.get, pick(0, 4, 1, 5))))
    const high = scope.local('v128')
    setup.push(high.set(v128.shuffle(a.get, b.get, pick(2, 6, 3, 7))))
    result.push(i64x2.extendLow(mixed.get), i64x2.extendHigh(mixed.get))
    result.push(i64x2.extendLow(high.get), i64x2.extendHigh(high.get))
  }
  const top = scope.local('v128')
  const offset = start + 4 * wholeLimbs
  setup.push(top.set(v128.load32Lane(second, v128.load32Zero(first, offset), offset, 1)))
  result.push(i64x2.extendLow(top.get))
  return { setup, result }
}

/** Stores limbs, given as sums, as a part of a coordinate of two points. */
export function storeTwo(part: number, first: Code, second: Code, limbs: readonly Code[]): Code {
  const start = part * elementBytes
  const limbAt = (index: number): Code => limbs[index] ?? []
  const code: Code[] = []
  for (let limb = 0; limb < wholeLimbs; limb += limbsPerVector) {
    const half = (from: number) => v128.shuffle(limbAt(from), limbAt(from + 1), pick(0, 4, 2, 6))
    const whole = (picks: number[]) => v128.shuffle(half(limb), half(limb + 2), picks)
    code.push(v128.store(first, whole(pick(0, 1, 4, 5)), start + 4 * limb))
    code.push(v128.store(second, whole(pick(2, 3, 6, 7)), start + 4 * limb))
  }
  const offset = start + 4 * wholeLimbs
  const top = pair.narrow(limbAt(wholeLimbs))
  code.push(v128.store32Lane(first, top, offset, 0), v128.store32Lane(second, top, offset, 1))
  return code
}

/** Stores limbs, given as sums, as a part of an interleaved pair. */
export function storePair(part: number, address: Code, limbs: readonly Code[]): Code {
  const limbAt = (index: number): Code => limbs[index] ?? []
  const code: Code[] = []
  for (let limb = 0; limb < wholeLimbs; limb += 2) {
    const both = v128.shuffle(limbAt(limb), limbAt(limb + 1), pick(0, 2, 4, 6))
    code.push(v128.store(address, both, pair.limbBytes * (part * limbCount + limb)))
  }
  code.push(pair.store(address, part * limbCount + wholeLimbs, pair.narrow(limbAt(wholeLimbs))))
  return code
}
