/**
 * Finds the public keys of two ECDSA signatures at once, one in each lane. The point is a sum of four products with numbers of
 * half the length, because secp256k1 has an endomorphism: (βx, y) is λ times (x, y).
 */
import { coordinatePrime } from './coordinates.js'
import { createPairMemory, createPowers, type PairMemory, pairAt } from './pair-memory.js'
import { addendPairs, pointPairs } from './points.js'
import {
  digitBits,
  digitCount,
  digitsOf,
  type Inverted,
  invertAll,
  isInRange,
  type Signature,
} from './scalars.js'
import { createFixedTable, createPointTable, partOf, type Table } from './tables.js'

/** The key's x and y; undefined when there is none. `unsure`: two points met that this way cannot add. */
export type Recovered = { readonly x: bigint; readonly y: bigint } | undefined | 'unsure'

/** Finds the keys of any number of signatures, in order, two at a time. */
export function createRecover(): (signatures: readonly Signature[]) => readonly Recovered[] {
  const memory = createPairMemory()
  const powers = createPowers(memory)
  const table = createPointTable(memory)
  const writePoints = createWritePoints(memory, powers, table)
  const sum = createSum(memory, createFixedTable(memory), table)
  const [inverse, square] = [memory.take(1), memory.take(1)]

  /** The keys of two signatures whose numbers are in range. */
  function recoverTwo(first: Inverted, second: Inverted): [Recovered, Recovered] {
    const { run, read } = memory
    const exists = writePoints([first, second])
    table.fill()
    sum.add(digitsOf(first), digitsOf(second))
    const [x, y, z] = [sum.point, pairAt(sum.point, 1), pairAt(sum.point, 2)]
    powers.invert(inverse, z)
    run.square(square, inverse)
    run.multiply(x, x, square)
    run.multiply(y, y, square)
    run.multiply(y, y, inverse)
    const result = (lane: number): Recovered => {
      if (!exists[lane]) return undefined
      const key = { x: read(x, lane), y: read(y, lane) }
      return sum.isNowhere[lane] || !isOnCurve(key) ? 'unsure' : key
    }
    return [result(0), result(1)]
  }

  return (signatures: readonly Signature[]): readonly Recovered[] => {
    const found = new Map<Signature, Recovered>()
    const inverted = invertAll(signatures.filter(isInRange))
    for (let i = 0; i < inverted.length; i += 2) {
      const first = inverted[i] as Inverted
      const second = inverted[i + 1] ?? first
      const [one, other] = recoverTwo(first, second)
      found.set(second.of, other).set(first.of, one)
    }
    return signatures.map((signature) => found.get(signature))
  }
}

/** A z of zero became the point (0, 0), which is not on it. Nor is what an error of the arithmetic would leave. */
const isOnCurve = ({ x, y }: { readonly x: bigint; readonly y: bigint }): boolean =>
  (y * y - x * x * x - 7n) % coordinatePrime === 0n

/** Puts the points whose x are the r of two signatures into the table. Returns which of them exist. */
function createWritePoints(
  { run, take, read, write, writeBoth }: PairMemory,
  powers: Pick<ReturnType<typeof createPowers>, 'root'>,
  table: Table,
): (signatures: readonly Signature[]) => boolean[] {
  const [x, y] = [table.address, pairAt(table.address, 1)]
  const [square, cube, seven] = [take(1), take(1), take(1)]
  writeBoth(seven, 7n)
  return (signatures) => {
    for (const [lane, { r }] of signatures.entries()) write(x, lane, r)
    run.square(cube, x)
    run.multiply(cube, cube, x)
    run.linear1_1(cube, cube, seven)
    powers.root(y, cube)
    run.square(square, y)
    return signatures.map(({ isOdd }, lane) => {
      const value = read(y, lane)
      if ((value & 1n) !== (isOdd ? 1n : 0n)) write(y, lane, coordinatePrime - value)
      return read(square, lane) === read(cube, lane)
    })
  }
}

/** The sum of the digits times what is in two tables. */
function createSum({ run, take, copy, writeBoth }: PairMemory, fixed: Table, table: Table) {
  const [point, saved, addend, one] = [take(pointPairs), take(pointPairs), take(addendPairs), take(1)]
  writeBoth(one, 1n)
  /** Whether a lane has no point yet. */
  const isNowhere = [true, true]

  /** Adds a digit times the point of a table, in each lane. */
  function addDigits(of: Table, isImage: boolean, first: number, second: number): void {
    for (let part = 0; part < of.parts; part++) {
      run.mix(pairAt(addend, part), partOf(of, first, part, isImage), partOf(of, second, part, isImage))
    }
    const isPlain = first !== 0 && second !== 0 && !isNowhere[0] && !isNowhere[1]
    if (!isPlain) copy(saved, point, pointPairs)
    if (of === fixed) run.addAffine(point, addend)
    else run.add(point, addend)
    if (isPlain) return
    for (let part = 0; part < pointPairs; part++) {
      const now = pairAt(point, part)
      const before = pairAt(saved, part)
      // What was nowhere is the addend now.
      const added = of === fixed && part === 2 ? one : pairAt(addend, part)
      const is = (digit: number, lane: 0 | 1) => (digit === 0 ? before : isNowhere[lane] ? added : now)
      run.mix(now, is(first, 0), is(second, 1))
    }
    if (first !== 0) isNowhere[0] = false
    if (second !== 0) isNowhere[1] = false
  }

  return {
    point,
    isNowhere: isNowhere as readonly boolean[],
    add(first: Int8Array, second: Int8Array): void {
      isNowhere.fill(true)
      for (let at = digitCount - 1; at >= 0; at--) {
        for (let bit = 0; bit < digitBits; bit++) run.double(point)
        for (let half = 0; half < 4; half++) {
          const digit = half * digitCount + at
          addDigits(half < 2 ? fixed : table, half % 2 === 1, first[digit] ?? 0, second[digit] ?? 0)
        }
      }
    },
  }
}
