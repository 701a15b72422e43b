import { reduce } from '../src/field.js'
import type { LinearForms, R1cs } from '../src/files/r1cs.js'

/** One summand of a linear form. */
export type Term = readonly [wire: number, weight: bigint]

/** `a * b = c`. */
export type Constraint = {
  readonly a: readonly Term[]
  readonly b: readonly Term[]
  readonly c: readonly Term[]
}

/** Constraints with an index by wire. */
export type Constraints = {
  readonly wires: number
  readonly rows: readonly Constraint[]
  /** For each wire, the rows in which it occurs. */
  readonly rowsByWire: readonly (readonly number[])[]
}

export function constraintsOf(r1cs: R1cs): Constraints {
  const rows = Array.from({ length: r1cs.constraints }, (_, row) => ({
    a: termsOf(r1cs.a, row),
    b: termsOf(r1cs.b, row),
    c: termsOf(r1cs.c, row),
  }))
  const rowsByWire = Array.from({ length: r1cs.wires }, (): number[] => [])
  for (const [row, { a, b, c }] of rows.entries()) {
    for (const [wire] of [...a, ...b, ...c]) {
      const known = rowsByWire[wire]
      if (known !== undefined && known.at(-1) !== row) known.push(row)
    }
  }
  return { wires: r1cs.wires, rows, rowsByWire }
}

function termsOf({ starts, wires, coefficients }: LinearForms, row: number): Term[] {
  const start = starts[row] ?? 0
  const length = (starts[row + 1] ?? 0) - start
  return Array.from({ length }, (_, at) => [wires[start + at] ?? 0, coefficients[start + at] ?? 0n] as const)
}

const sumOf = (terms: readonly Term[], witness: readonly bigint[]) =>
  terms.reduce((sum, [wire, weight]) => sum + weight * (witness[wire] ?? 0n), 0n)

const weightOf = (terms: readonly Term[], wire: number) => terms.find(([of]) => of === wire)?.[1] ?? 0n

/** The constraints that a witness violates. */
export function violated({ rows }: Constraints, witness: readonly bigint[]): number[] {
  return rows.flatMap(({ a, b, c }, row) =>
    reduce(sumOf(a, witness) * sumOf(b, witness) - sumOf(c, witness)) === 0n ? [] : [row],
  )
}

/** Wires whose value can change without violating a constraint: each is a hole. Tries every `step`th wire. */
export function freeWires(constraints: Constraints, witness: readonly bigint[], step = 1): number[] {
  const { wires, rows, rowsByWire } = constraints
  const sums = rows.map(({ a, b, c }) => [sumOf(a, witness), sumOf(b, witness), sumOf(c, witness)] as const)
  const survives = (wire: number, change: bigint) =>
    (rowsByWire[wire] ?? []).every((row) => {
      const [sumA, sumB, sumC] = sums[row] ?? [0n, 0n, 0n]
      const { a = [], b = [], c = [] } = rows[row] ?? {}
      const left = sumA + weightOf(a, wire) * change
      const right = sumB + weightOf(b, wire) * change
      return reduce(left * right - (sumC + weightOf(c, wire) * change)) === 0n
    })
  const free: number[] = []
  for (let wire = 1; wire < wires; wire += step) {
    const changes = [0n, 1n, 3n].map((replacement) => replacement - (witness[wire] ?? 0n))
    if (changes.some((change) => change !== 0n && survives(wire, change))) free.push(wire)
  }
  return free
}
