import curve from 'wasmcurves/build/bn128_wasm.js'
import { elementBytes } from '../field.js'

/** The two groups of the pairing. */
export type Group = 'G1' | 'G2'

/** Bytes of an affine point in a key file: coordinates in Montgomery form, infinity as zeros. */
const pointBytes: Record<Group, number> = { G1: 64, G2: 128 }

/** Bits of a scalar's digit. Wider digits mean fewer additions but more cache misses. */
const windowBits = 11
const windows = Math.ceil(254 / windowBits)
const multiples = 2 ** windowBits - 1
/** Scalars in one batch. All their additions share one inversion, which costs less per scalar in a larger batch. */
const batchScalars = 1024
const pageBytes = 65_536
const memoryPages = 512

/** The part of the WebAssembly API that is used here. TypeScript declares it only for browsers. */
type Platform = {
  readonly Memory: new (options: { initial: number }) => { readonly buffer: ArrayBuffer }
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> }
}
const { WebAssembly: platform } = globalThis as unknown as { readonly WebAssembly: Platform }

type Operation = (...places: number[]) => number

/** Multiplies the generator of a group by many scalars, each little-endian below the group's order. */
export type FixedBase = (scalars: Uint8Array) => Uint8Array<ArrayBuffer>

/**
 * Multiplies with a table of the generator's multiples for every digit, so that a scalar is a sum with one term for
 * each digit. The sums of a batch are computed together in affine form, where an addition costs a third of a projective
 * one if many share an inversion. The terms of a sum are never equal or opposite, because a higher digit outweighs all
 * lower ones and the whole is below the order. So infinity is the only special case.
 */
export function createFixedBase(group: Group): FixedBase {
  const memory = new platform.Memory({ initial: memoryPages })
  const compiled = new platform.Module(Buffer.from(curve.code, 'base64'))
  const wasm = new platform.Instance(compiled, { env: { memory } })
  const operation = (name: string): Operation => {
    const found = wasm.exports[name]
    if (typeof found !== 'function') throw new Error(`the curve has no ${name}`)
    return found as Operation
  }
  const [point, field] = group === 'G1' ? ['g1m', 'f1m'] : ['g2m', 'f2m']
  const [sub, mul, square] = ['sub', 'mul', 'square'].map((name) => operation(`${field}_${name}`))
  const batchInverse = operation(`${field}_batchInverse`)
  if (sub === undefined || mul === undefined || square === undefined) throw new Error('unreachable')

  const words = new Uint32Array(memory.buffer)
  const bytes = new Uint8Array(memory.buffer)
  const pointSize = pointBytes[group]
  const coordinate = pointSize / 2
  // The module stores the end of its memory at address 0 and allocates temporary memory from there.
  const allocate = (size: number): number => {
    const place = ((words[0] ?? 0) + 7) & ~7
    words[0] = place + size
    if (place + size > memoryPages * pageBytes) throw new Error('the curve memory is too small')
    return place
  }
  const table = buildTable()
  const sums = allocate(batchScalars * pointSize)
  const differences = allocate(batchScalars * coordinate)
  const [slope, x, y] = [allocate(coordinate), allocate(coordinate), allocate(coordinate)]

  function buildTable(): number {
    const affine = allocate(windows * multiples * pointSize)
    const before = words[0] ?? 0
    const row = allocate(multiples * (pointSize + coordinate))
    const base = allocate(pointSize + coordinate)
    const [add, copy, toAffine] = [`${point}_add`, `${point}_copy`, `${point}_batchToAffine`].map(operation)
    if (add === undefined || copy === undefined || toAffine === undefined) throw new Error('unreachable')
    copy(group === 'G1' ? curve.pG1gen : curve.pG2gen, base)
    const at = (multiple: number) => row + (multiple - 1) * (pointSize + coordinate)
    for (let window = 0; window < windows; window++) {
      copy(base, at(1))
      for (let multiple = 2; multiple <= multiples; multiple++) add(at(multiple - 1), base, at(multiple))
      add(at(multiples), base, base)
      toAffine(row, multiples, affine + window * multiples * pointSize)
    }
    words[0] = before
    return affine
  }

  /** Adds the term to the sum, given the inverse of the difference of their x. */
  function addTerm(sum: number, term: number, inverse: number): void {
    sub?.(term + coordinate, sum + coordinate, slope)
    mul?.(slope, inverse, slope)
    square?.(slope, x)
    sub?.(x, sum, x)
    sub?.(x, term, x)
    sub?.(sum, x, y)
    mul?.(y, slope, y)
    sub?.(y, sum + coordinate, sum + coordinate)
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
        sub?.(term, sum, differences + pending * coordinate)
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

function digitOf(scalars: Uint8Array, index: number, window: number): number {
  const bit = window * windowBits
  const first = bit >> 3
  let word = 0
  for (let byte = 0; byte < 3 && first + byte < elementBytes; byte++) {
    word |= (scalars[index * elementBytes + first + byte] ?? 0) << (8 * byte)
  }
  return (word >> (bit & 7)) & multiples
}
