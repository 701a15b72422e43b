import { additionBytes, additionLanes } from './batch-functions.js'
import { coordinatePairBytes } from './coordinate.js'
import type { Curve } from './curve.js'
import type { Point } from './group.js'
import { sumBytes } from './point-functions.js'
import type { PointMemory } from './point-memory.js'

/** Additions that share one division. More would not fit the cache; fewer would mean more divisions. */
const batchAdditionsMax = 4096
const additionWords = additionBytes / 4

/** Adds points pair by pair, many at once. */
export type BatchAddition = {
  /** Three addresses for each addition: two points, and where their sum goes. None may depend on another. */
  addAll(additions: Int32Array): void
  /** Addresses of sums that are the point at infinity; the memory there is undefined. Almost always empty. */
  readonly infinite: Set<number>
}

/**
 * Two equal or opposite points have no slope between them. Their leaf in the tree of products is zero, and so is the
 * root. Only in that case the batch is searched for such pairs, which are then added over JavaScript numbers.
 */
export function createBatchAddition<Value>(
  { shape, group }: Curve<Value>,
  memory: PointMemory<Value>,
): BatchAddition {
  const { numbers } = group
  const { functions } = memory
  const nodeBytes = coordinatePairBytes(shape)
  const list = memory.allocate(batchAdditionsMax * additionBytes)
  const tree = memory.allocate(batchAdditionsMax * nodeBytes)
  // An odd batch is filled up with a pair of points that has a slope.
  const filler = Int32Array.from({ length: additionWords }, () => memory.allocate(sumBytes(shape)))
  memory.writePoint(filler[0] ?? 0, { x: numbers.zero, y: numbers.zero })
  memory.writePoint(filler[1] ?? 0, { x: numbers.one, y: numbers.zero })
  const infinite = new Set<number>()

  /** Returns the sums of the pairs without a slope, and replaces these pairs by a harmless one. */
  function takeOutSlopeless(count: number): { readonly out: number; readonly sum: Point<Value> }[] {
    const entries = memory.words(list, count * additionLanes * additionWords)
    return Array.from({ length: count * additionLanes }, (_, index) => index).flatMap((index) => {
      const leaf = tree + (count + Math.floor(index / additionLanes)) * nodeBytes
      if (!numbers.isZero(memory.readLane(leaf, index % additionLanes))) return []
      memory.writeLane(leaf, index % additionLanes, numbers.one)
      const [a = 0, b = 0, out = 0] = entries.subarray(index * additionWords)
      return [{ out, sum: group.add(memory.readPoint(a), memory.readPoint(b)) }]
    })
  }

  /** One division for both lanes of the root; false when a lane is zero. */
  function invertRoot(): boolean {
    const root = tree + nodeBytes
    const [first, second] = [memory.readLane(root, 0), memory.readLane(root, 1)]
    const product = numbers.multiply(first, second)
    if (numbers.isZero(product)) return false
    const inverse = numbers.inverse(product)
    memory.writeLane(root, 0, numbers.multiply(inverse, second))
    memory.writeLane(root, 1, numbers.multiply(inverse, first))
    return true
  }

  function addBatch(additions: Int32Array): void {
    const words = memory.words(list, batchAdditionsMax * additionWords)
    words.set(additions)
    const isOdd = (additions.length / additionWords) % additionLanes !== 0
    if (isOdd) words.set(filler, additions.length)
    const count = Math.ceil(additions.length / additionWords / additionLanes)
    functions.differences(list, count, tree)
    functions.products(count, tree)
    let slopeless: ReturnType<typeof takeOutSlopeless> = []
    if (!invertRoot()) {
      slopeless = takeOutSlopeless(count)
      functions.products(count, tree)
      invertRoot()
    }
    functions.inverses(count, tree)
    functions.sums(list, count, tree)
    for (const { out, sum } of slopeless) {
      if (sum === undefined) infinite.add(out)
      else memory.writePoint(out, sum)
    }
  }

  return {
    infinite,
    addAll(additions) {
      const step = batchAdditionsMax * additionWords
      for (let at = 0; at < additions.length; at += step) addBatch(additions.subarray(at, at + step))
    },
  }
}
