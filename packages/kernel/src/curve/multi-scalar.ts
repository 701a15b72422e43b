import { createBatchAddition } from './batch-addition.js'
import type { Curve } from './curve.js'
import { bestDigitBits, cutIntoDigits, type Digits } from './digits.js'
import type { Point } from './group.js'
import { sumBytes } from './point-functions.js'
import type { PointMemory } from './point-memory.js'
import { type Segments, sumSegments } from './segment-sums.js'

/** Digits processed together, or one window's digits if that is more. Bounds the memory for sums. */
const groupDigitsMax = 131_072

/** Multiplies many points by a scalar each and adds everything up. */
export type MultiScalar<Value> = {
  /**
   * `bases` are addresses of points with their negative, none at infinity; `scalars` eight little-endian 32-bit words
   * each, reduced.
   */
  multiply(bases: Int32Array, scalars: Uint32Array): Point<Value>
}

/**
 * Pippenger's bucket method: points whose digit in a window is ±k are added up in bucket k. Bucket k counts k times.
 * The buckets are arranged in rows and columns, whose sums are combined by the bits of their numbers. One point for
 * each power of two remains.
 */
export function createMultiScalar<Value>(
  curve: Curve<Value>,
  memory: PointMemory<Value>,
): MultiScalar<Value> {
  const addition = createBatchAddition(curve, memory)
  const step = Math.ceil(sumBytes(curve.shape) / 8) * 8
  let room = { first: 0, count: 0 }
  let used = 0

  function place(count: number): number {
    if (used + count > room.count) throw new RangeError('more sums than room for them')
    used += count
    return room.first + step * (used - count)
  }

  /** Grows the room in place if nothing was allocated behind it. */
  function extendRoom(sums: number): void {
    const more = memory.allocate(step * (sums - room.count))
    const isBehind = more === room.first + step * room.count
    room = { first: isBehind ? room.first : memory.allocate(step * sums), count: sums }
  }

  function startOver(sums: number): void {
    if (room.count < sums) extendRoom(sums)
    used = 0
    addition.infinite.clear()
  }

  /** One point for each power of two from 2^(bits · first window) on, `bits` of them for each window. */
  function sumWindows(bases: Int32Array, digits: Digits, first: number, count: number): Point<Value>[] {
    const layout = layoutOf(digits.bits)
    const bucketItems = fillBuckets(bases, digits, first, count)
    startOver(bucketItems.items.length + 2 * count * layout.buckets + count * layout.lines * digits.bits)
    const sum = (segments: Segments) => sumSegments(segments, { addition, place, step })
    const lines = sum(fillLines(sum(bucketItems), layout, count))
    const powers = sum(fillPowers(lines, layout, count, digits.bits))
    return Array.from(powers, (address) => (address === 0 ? undefined : memory.readPoint(address)))
  }

  return {
    multiply(bases, scalars) {
      const digits = cutIntoDigits(scalars, bestDigitBits(bases.length))
      const together = Math.max(1, Math.floor(groupDigitsMax / Math.max(1, bases.length)))
      const powers: Point<Value>[] = []
      for (let window = 0; window < digits.windows; window += together) {
        powers.push(...sumWindows(bases, digits, window, Math.min(together, digits.windows - window)))
      }
      return curve.group.addPowers(powers)
    },
  }
}

/** Where the buckets of a window stand: bucket k − 1 = row · columns + column. */
type Layout = {
  readonly buckets: number
  readonly columnBits: number
  readonly columns: number
  readonly rows: number
  /** Columns and rows. */
  readonly lines: number
}

function layoutOf(bits: number): Layout {
  const columnBits = Math.floor((bits - 1) / 2)
  const columns = 2 ** columnBits
  const rows = 2 ** (bits - 1 - columnBits)
  return { buckets: rows * columns, columnBits, columns, rows, lines: rows + columns }
}

/** Builds lists in two passes over the same pairs of list and item: the first counts, the second writes. */
function fill(count: number, each: (emit: (segment: number, item: number) => void) => void): Segments {
  const starts = new Int32Array(count + 1)
  each((segment) => {
    starts[segment + 1] = (starts[segment + 1] ?? 0) + 1
  })
  accumulate(starts)
  const items = new Int32Array(starts[count] ?? 0)
  const ends = starts.slice()
  each((segment, item) => {
    const end = ends[segment] ?? 0
    items[end] = item
    ends[segment] = end + 1
  })
  return { items, starts }
}

/** A list of point addresses for each bucket of each window. An odd address means the negative point. */
function fillBuckets(bases: Int32Array, { bits, values }: Digits, first: number, count: number): Segments {
  const buckets = 2 ** (bits - 1)
  const starts = new Int32Array(count * buckets + 1)
  const from = first * bases.length
  const to = (first + count) * bases.length
  // These loops see every digit. They are the hottest code outside WebAssembly, so they are kept plain.
  let bucketStart = 0
  for (let at = from, next = from + bases.length; at < to; at++) {
    if (at === next) {
      next += bases.length
      bucketStart += buckets
    }
    const digit = values[at] ?? 0
    if (digit !== 0) {
      const bucket = bucketStart + (digit < 0 ? -digit : digit)
      starts[bucket] = (starts[bucket] ?? 0) + 1
    }
  }
  accumulate(starts)
  const items = new Int32Array(starts.at(-1) ?? 0)
  const ends = starts.slice()
  bucketStart = 0
  for (let at = from, index = 0; at < to; at++) {
    const digit = values[at] ?? 0
    if (digit !== 0) {
      const bucket = bucketStart + (digit < 0 ? -digit : digit) - 1
      const end = ends[bucket] ?? 0
      items[end] = (bases[index] ?? 0) + (digit < 0 ? 1 : 0)
      ends[bucket] = end + 1
    }
    index += 1
    if (index === bases.length) {
      index = 0
      bucketStart += buckets
    }
  }
  return { items, starts }
}

/** Turns the length of each list, stored one place later, into the start of each list. */
function accumulate(starts: Int32Array): void {
  let sum = 0
  for (let segment = 0; segment < starts.length; segment++) {
    sum += starts[segment] ?? 0
    starts[segment] = sum
  }
}

/** A list for each column and each row of buckets. */
function fillLines(
  sums: Int32Array,
  { buckets, columnBits, columns, lines }: Layout,
  count: number,
): Segments {
  return fill(count * lines, (emit) => {
    for (let index = 0; index < sums.length; index++) {
      const sum = sums[index] ?? 0
      if (sum === 0) continue
      const window = Math.floor(index / buckets)
      const bucket = index - window * buckets
      emit(window * lines + (bucket & (columns - 1)), sum)
      emit(window * lines + columns + (bucket >>> columnBits), sum)
    }
  })
}

/** A list for each power of two: columns weigh 1, 2, 3 …, rows 0, 1, 2 … times the number of columns. */
function fillPowers(sums: Int32Array, layout: Layout, count: number, bits: number): Segments {
  const { columns, columnBits, lines } = layout
  return fill(count * bits, (emit) => {
    for (let index = 0; index < sums.length; index++) {
      const sum = sums[index] ?? 0
      if (sum === 0) continue
      const window = Math.floor(index / lines)
      const line = index - window * lines
      const weight = line < columns ? line + 1 : (line - columns) * columns
      for (let bit = line < columns ? 0 : columnBits; 2 ** bit <= weight; bit++) {
        if ((weight >>> bit) & 1) emit(window * bits + bit, sum)
      }
    }
  })
}
