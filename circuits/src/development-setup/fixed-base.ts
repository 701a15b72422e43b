import { elementBytes } from '../field.js'
import { type CurveModule, createCurveModule, type Group } from './curve-module.js'

/** Bits of a scalar's digit. Wider digits mean fewer additions but more cache misses. */
const windowBits = 11
const windows = Math.ceil(254 / windowBits)
const multiples = 2 ** windowBits - 1
/** Scalars in one batch. All their additions share one inversion, which costs less per scalar in a larger batch. */
const batchScalars = 1024

/** Multiplies the generator of a group by many scalars, each little-endian below the group's order. */
export type FixedBase = (scalars: Uint8Array) => Uint8Array<ArrayBuffer>

/**
 * Multiplies with a table of the generator's multiples for every digit, so that a scalar is a sum with one term for
 * each digit. The sums of a batch are computed together in affine form, where an addition costs a third of a projective
 * one if many share an inversion. The terms of a sum are never equal or opposite, because a higher digit outweighs all
 * lower ones and the whole is below the order. So infinity is the only special case.
 */
export function createFixedBase(group: Group): FixedBase {
  const module = createCurveModule(group)
  const { bytes, pointSize, allocate } = module
  const coordinate = pointSize / 2
  const sub = module.coordinate('sub')
  const mul = module.coordinate('mul')
  const square = module.coordinate('square')
  const batchInverse = module.coordinate('batchInverse')
  const table = buildTable(module)
  const sums = allocate(batchScalars * pointSize)
  const differences = allocate(batchScalars * coordinate)
  const [slope, x, y] = [allocate(coordinate), allocate(coordinate), allocate(coordinate)]

  /** Adds the term to the sum, given the inverse of the difference of their x. */
  function addTerm(sum: number, term: number, inverse: number): void {
    sub(term + coordinate, sum + coordinate, slope)
    mul(slope, inverse, slope)
    square(slope, x)
    sub(x, sum, x)
    sub(x, term, x)
    sub(sum, x, y)
    mul(y, slope, y)
    sub(y, sum + coordinate, sum + coordinate)
    bytes.copyWithin(sum, x, x + coordinate)
  }

  function addWindow(window: number, digits: Uint16Array, count: number, started: Uint8Array): void {
    let pending = 0
    const places: number[] = []
    const terms: number[] = []
    for (let at = 0; at < count; at++) {
      const digit = digits[at] ?? 0
      if (digit === 0) continue
      const term = table + (window * multiples + digit - 1) * pointSize
      const sum = sums + at * pointSize
      if (started[at] === 0) {
        bytes.copyWithin(sum, term, term + pointSize)
        started[at] = 1
      } else {
        sub(term, sum, differences + pending * coordinate)
        places.push(sum)
        terms.push(term)
        pending++
      }
    }
    if (pending > 0) batchInverse(differences, coordinate, pending, differences, coordinate)
    for (let at = 0; at < pending; at++)
      addTerm(places[at] ?? 0, terms[at] ?? 0, differences + at * coordinate)
  }

  return (scalars) => {
    const total = scalars.length / elementBytes
    const points = new Uint8Array(total * pointSize)
    const digits = new Uint16Array(batchScalars)
    for (let start = 0; start < total; start += batchScalars) {
      const count = Math.min(batchScalars, total - start)
      const started = new Uint8Array(count)
      bytes.fill(0, sums, sums + count * pointSize)
      for (let window = 0; window < windows; window++) {
        for (let at = 0; at < count; at++) digits[at] = digitOf(scalars, start + at, window)
        addWindow(window, digits, count, started)
      }
      points.set(bytes.subarray(sums, sums + count * pointSize), start * pointSize)
    }
    return points
  }
}

/** The place of a table of affine points: for each window, the generator's multiples by every digit but zero. */
function buildTable(module: CurveModule): number {
  const { pointSize, allocate } = module
  const add = module.point('add')
  const copy = module.point('copy')
  const toAffine = module.point('batchToAffine')
  const affine = allocate(windows * multiples * pointSize)
  module.borrow(() => {
    // A projective point has a third coordinate.
    const projectiveSize = (pointSize / 2) * 3
    const row = allocate(multiples * projectiveSize)
    const base = allocate(projectiveSize)
    const at = (multiple: number) => row + (multiple - 1) * projectiveSize
    copy(module.generator, base)
    for (let window = 0; window < windows; window++) {
      copy(base, at(1))
      for (let multiple = 2; multiple <= multiples; multiple++) add(at(multiple - 1), base, at(multiple))
      add(at(multiples), base, base)
      toAffine(row, multiples, affine + window * multiples * pointSize)
    }
  })
  return affine
}

function digitOf(scalars: Uint8Array, index: number, window: number): number {
  const bit = window * windowBits
  const first = bit >> 3
  let word = 0
  for (let byte = 0; byte < 3 && first + byte < elementBytes; byte++) {
    word |= (scalars[index * elementBytes + first + byte] ?? 0) << (8 * byte)
  }
  return (word >> (bit & 7)) & multiples
}
