/** Multiples of a point that are looked up, one in each lane. */
import { inverseModulo } from '../field.js'
import { coordinatePrime } from './coordinates.js'
import { type PairMemory, pairAt } from './pair-memory.js'
import { addendPairs, pointPairs } from './points.js'
import { digitMax } from './scalars.js'

const generator = {
  x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
}
/** (βx, y) is λ times (x, y). */
const beta = 0x7ae96a2b657c07106e64479eac3434e99cf0497512f58995c1396c28719501een

/** A point 1 to 16 times. The parts of an entry that are added are followed by −y and βx. */
export type Table = { readonly address: number; readonly parts: number }

const takeTable = ({ take }: Pick<PairMemory, 'take'>, parts: number): Table => ({
  address: take(digitMax * (parts + 2)),
  parts,
})

/** The entry for a digit. That of zero is one to read and not to use. */
const entryOf = ({ address, parts }: Table, digit: number): number =>
  pairAt(address, (Math.max(Math.abs(digit), 1) - 1) * (parts + 2))

/** The address of a part of what a digit stands for, with `isImage` of λ times that. */
export function partOf(table: Table, digit: number, part: number, isImage: boolean): number {
  const { parts } = table
  const place = part === 0 && isImage ? parts + 1 : part === 1 && digit < 0 ? parts : part
  return pairAt(entryOf(table, digit), place)
}

/** The generator, the same in both lanes, as x and y alone. */
export function createFixedTable(memory: PairMemory): Table {
  const table = takeTable(memory, 2)
  for (const [i, { x, y }] of multiplesOfGenerator().entries()) {
    const entry = entryOf(table, i + 1)
    const forms = [x, y, coordinatePrime - y, (beta * x) % coordinatePrime]
    for (const [index, value] of forms.entries()) memory.writeBoth(pairAt(entry, index), value)
  }
  return table
}

/** Points that are written to its first entry as x and y. `fill` computes the rest: x, y, z, z² and z³ of each. */
export function createPointTable(memory: PairMemory): Table & { fill(): void } {
  const { run, copy } = memory
  const table = takeTable(memory, addendPairs)
  const betaAt = memory.take(1)
  memory.writeBoth(betaAt, beta)
  memory.writeBoth(pairAt(table.address, 2), 1n)

  return {
    ...table,
    fill() {
      for (let times = 1; times <= digitMax; times++) {
        const entry = entryOf(table, times)
        const part = (index: number) => pairAt(entry, index)
        if (times > 1) copy(entry, entryOf(table, times - 1), pointPairs)
        if (times === 2) run.double(entry)
        if (times > 2) run.addAffine(entry, table.address)
        run.square(part(3), part(2))
        run.multiply(part(4), part(3), part(2))
        run['linear-1'](part(addendPairs), part(1))
        run.multiply(part(addendPairs + 1), part(0), betaAt)
      }
    },
  }
}

/** The generator 1 to 16 times. */
function multiplesOfGenerator(): { readonly x: bigint; readonly y: bigint }[] {
  const p = coordinatePrime
  const points = [generator]
  while (points.length < digitMax) {
    const { x, y } = points.at(-1) ?? generator
    const isSame = x === generator.x
    const slope = isSame
      ? 3n * x * x * inverseModulo(2n * y, p)
      : (generator.y - y) * inverseModulo(generator.x - x, p)
    const sumX = modulo(slope * slope - x - generator.x)
    points.push({ x: sumX, y: modulo(slope * (x - sumX) - y) })
  }
  return points
}

const modulo = (value: bigint): bigint => ((value % coordinatePrime) + coordinatePrime) % coordinatePrime
