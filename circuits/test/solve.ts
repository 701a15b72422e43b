/**
 * Finds the witness from the constraints alone, without the compiled generator. What it cannot find does not follow
 * from the inputs: a dishonest prover could choose it. And with some wires given beside the inputs it finds the rest
 * of a forged witness, as such a prover would. The rules know what these circuits use: linear definitions, binary
 * digits, and parts of a number that do not overlap.
 */
import { fieldPrime } from '@svc-zerc20/zk'
import { inverse, reduce } from '../src/field.js'
import type { Constraint, Constraints, Term } from './constraints.js'

const inverses = new Map<bigint, bigint>()

/** Few coefficients occur, very often. */
function inverseOf(weight: bigint): bigint {
  const known = inverses.get(weight) ?? inverse(weight)
  inverses.set(weight, known)
  return known
}

/** Values of all wires, undefined where they do not follow from the given ones. */
export function solve(
  { wires, rows, rowsByWire }: Constraints,
  given: ReadonlyMap<number, bigint>,
): (bigint | undefined)[] {
  const values = Array.from({ length: wires }, (_, wire) => (wire === 0 ? 1n : given.get(wire)))
  /** Largest value of wires known to be small. */
  const bounds = new Map<number, bigint>()
  const waiting = new Set(rows)
  const visitAgain = (wire: number) => {
    for (const at of rowsByWire[wire] ?? []) {
      const row = rows[at]
      if (row !== undefined) waiting.add(row)
    }
  }
  const learn = (wire: number, value: bigint) => {
    values[wire] = value
    visitAgain(wire)
  }
  const bound = (wire: number, most: bigint) => {
    const before = bounds.get(wire)
    if (before !== undefined && before <= most) return
    bounds.set(wire, most)
    visitAgain(wire)
  }
  const sumOfKnown = (terms: readonly Term[]) =>
    terms.reduce((sum, [wire, weight]) => sum + weight * (values[wire] ?? 0n), 0n)

  for (const row of waiting) {
    waiting.delete(row)
    const { a, b, c } = row
    const digit = binaryWire(row)
    if (digit !== undefined) bound(digit, 1n)
    if ([...a, ...b].some(([wire]) => values[wire] === undefined)) continue
    const unknown = c.filter(([wire]) => values[wire] === undefined)
    const rest = reduce(sumOfKnown(a) * sumOfKnown(b) - sumOfKnown(c))
    const [only] = unknown
    if (only !== undefined && unknown.length === 1) {
      learn(only[0], reduce(rest * inverseOf(only[1])))
      continue
    }
    const parts = uniqueParts(unknown, bounds)
    if (parts === undefined) boundSum(c, values, bounds, bound)
    else for (const [wire, value] of split(parts, rest)) learn(wire, value)
  }
  return values
}

/** The x of `x * (x - 1) = 0`. */
function binaryWire({ a, b, c }: Constraint): number | undefined {
  const [alone, pair] = a.length === 1 ? [a, b] : [b, a]
  if (c.length !== 0 || alone.length !== 1 || pair.length !== 2) return undefined
  const wire = alone[0]?.[0]
  const slope = pair.find(([of]) => of === wire)?.[1]
  const constant = pair.find(([of]) => of === 0)?.[1]
  if (wire === undefined || wire === 0 || slope === undefined || constant === undefined) return undefined
  return reduce(slope + constant) === 0n ? wire : undefined
}

type Parts = { readonly terms: readonly Term[]; readonly negative: boolean; readonly most: bigint }

/** The terms, lowest first, if their sum takes a value in one way only: mixed radix, no wrap around the field. */
function uniqueParts(terms: readonly Term[], bounds: ReadonlyMap<number, bigint>): Parts | undefined {
  const negative = terms.every(([, weight]) => weight > fieldPrime / 2n)
  const ascending = terms
    .map(([wire, weight]) => [wire, negative ? fieldPrime - weight : weight] as const)
    .sort(([, x], [, y]) => (x < y ? -1 : 1))
  let most = 0n
  for (const [wire, weight] of ascending) {
    const limit = bounds.get(wire)
    if (limit === undefined || weight <= most) return undefined
    most += weight * limit
  }
  return most < fieldPrime ? { terms: ascending, negative, most } : undefined
}

/** The parts of a value. One that is too large is cut: no parts would add up to it. */
function split({ terms, negative, most }: Parts, value: bigint): [number, bigint][] {
  let rest = (negative ? reduce(-value) : value) % (most + 1n)
  return [...terms].reverse().map(([wire, weight]) => {
    const part = rest / weight
    rest %= weight
    return [wire, part]
  })
}

/** `x = sum of bounded parts`, or `x + sum of bounded parts = constant`: a bound for x. */
function boundSum(
  terms: readonly Term[],
  values: readonly (bigint | undefined)[],
  bounds: ReadonlyMap<number, bigint>,
  bound: (wire: number, most: bigint) => void,
): void {
  for (const [wire, weight] of terms) {
    if (values[wire] !== undefined || (weight !== 1n && weight !== fieldPrime - 1n)) continue
    const sign = weight === 1n ? 1n : -1n
    const others = terms.filter(([of]) => of !== wire && of !== 0)
    if (others.length === 0 || others.some(([of]) => !bounds.has(of))) continue
    const constant = reduce(sign * (terms.find(([of]) => of === 0)?.[1] ?? 0n))
    const most = (side: bigint) =>
      others.reduce((sum, [of, other]) => sum + reduce(side * sign * other) * (bounds.get(of) ?? 0n), 0n)
    if (constant === 0n && most(-1n) < fieldPrime) bound(wire, most(-1n))
    // As x is small already, a sum beyond the constant would show as a wrap around the field.
    const limit = bounds.get(wire)
    if (constant !== 0n && limit !== undefined && limit + most(1n) < fieldPrime)
      bound(wire, fieldPrime - constant)
  }
}
