import type { Field } from '../field.js'
import { at, indices } from '../montgomery.js'
import { createLinearAlgebra, type Vector } from './linear.js'
import { outerRounds, type Parameters, tracePermutation } from './parameters.js'
import { describePartialRounds } from './partial-rounds.js'

/** One input of an S-box: an output of another with factor 1, plus products, plus a constant. */
export type Row = { readonly factors: Vector; readonly constant: bigint }

/**
 * Poseidon rearranged. Every number that enters an S-box is scaled so that the first factor of its row is 1 and needs
 * no product: (s·x)^5 is s^5·x^5, so the scale of an output is known and goes into the factors that follow.
 */
export type Schedule = {
  /** Added to the inputs. */
  readonly inputConstants: Vector
  /** After round 0, over the inputs' outputs: the last with factor 1, then the others in order. */
  readonly first: readonly Row[]
  /** After the other rounds before the partial ones but the last: output 0 with factor 1, then the others. */
  readonly before: readonly (readonly Row[])[]
  /** After the last of them: the first partial round's number, as in `before`. */
  readonly entry: Row
  /** Numbers that stand in for those of earlier partial rounds: output 1 with factor 1, then those after it. */
  readonly past: readonly Row[]
  /** After each partial round: see `describePartialRounds` for the order. */
  readonly partial: readonly Row[]
  /** All but the first number of the round after the partial ones: the same order, output of the last round first. */
  readonly exit: readonly Row[]
  readonly after: readonly (readonly Row[])[]
  /** Factors of all outputs of the last round. */
  readonly output: Vector
}

/** How many times larger than in the definition a number is kept. */
type Scale = { readonly by: bigint; readonly inverse: bigint }

export function createSchedule(field: Field, parameters: Parameters): Schedule {
  const { prime } = field
  const { width, partialRounds, constants, mix } = parameters
  const { dot } = createLinearAlgebra(field)
  const unscaled: Scale = { by: 1n, inverse: 1n }
  const times = (...values: bigint[]) => values.reduce((product, value) => (product * value) % prime, 1n)
  const boxed = ({ by, inverse }: Scale): Scale => ({
    by: times(by, by, by, by, by),
    inverse: times(inverse, inverse, inverse, inverse, inverse),
  })
  const inverses = new Map<bigint, bigint>()
  const inverseOf = (value: bigint) => {
    const known = inverses.get(value) ?? field.inverse(value)
    inverses.set(value, known)
    return known
  }

  /** Scales a row so that its first factor becomes 1, and tells the scale of what it gives. */
  function scaleRow(factors: Vector, constant: bigint, scales: readonly Scale[]): [row: Row, scale: Scale] {
    const [head, headScale] = [at(factors, 0), at(scales, 0)]
    const scale = { by: times(headScale.by, inverseOf(head)), inverse: times(head, headScale.inverse) }
    const rest = factors
      .slice(1)
      .map((factor, index) => times(scale.by, factor, at(scales, index + 1).inverse))
    return [{ factors: rest, constant: times(scale.by, constant) }, scale]
  }
  const scaleRows = (rows: readonly (readonly [Vector, bigint])[], scales: readonly Scale[]) => {
    const scaled = rows.map(([factors, constant]) => scaleRow(factors, constant, scales))
    return { rows: scaled.map(([row]) => row), scales: scaled.map(([, scale]) => scale) }
  }
  const fullRound = (round: number, scales: readonly Scale[]) =>
    scaleRows(
      mix.map((factors, index) => [factors, at(at(constants, round + 1), index)] as const),
      scales.map(boxed),
    )

  // The state's element 0 starts as zero, so what it adds to the first mix is constant.
  const capacity = times(...indices(5).map(() => at(at(constants, 0), 0)))
  const first = scaleRows(
    mix.map((factors, index) => [
      [at(factors, width - 1), ...factors.slice(1, width - 1)],
      (at(at(constants, 1), index) + at(factors, 0) * capacity) % prime,
    ]),
    indices(width - 1).map(() => unscaled),
  )
  const second = fullRound(1, first.scales)
  const third = fullRound(2, second.scales)
  const last = third.scales.map(boxed)

  const description = describePartialRounds(field, parameters)
  const [entry, entryScale] = scaleRow(at(mix, 0), at(at(constants, outerRounds), 0), last)
  const past = scaleRows(
    description.past.map((factors) => [factors, 0n]),
    last.slice(1),
  )

  // Constants come from one run of the definition: they are what its numbers have that the factors do not explain.
  const trace = tracePermutation(
    field,
    parameters,
    indices(width).map(() => 0n),
  )
  const lastFull = at(trace, outerRounds - 1).after
  const pastValues = description.past.map((factors) => dot(factors, lastFull.slice(1)))
  const hidden = width - 1
  const number = (round: number) =>
    round < 0 ? at(pastValues, -round - 1) : at(at(trace, outerRounds + round).before, 0)
  const output = (round: number) => (round < -1 ? 0n : at(at(trace, outerRounds + round).after, 0))
  const values = (round: number, newestNumber: number) => [
    output(round),
    ...indices(hidden).map((age) => number(newestNumber - age)),
    ...indices(newestNumber > round ? hidden - 1 : hidden).map((age) => output(round - 1 - age)),
  ]
  const unexplained = (value: bigint, factors: Vector, sources: Vector) =>
    (((value - dot(factors, sources)) % prime) + prime) % prime

  const numberScales = [...past.scales.toReversed(), entryScale]
  const outputScales = [...indices(hidden - 1).map(() => unscaled), at(last, 0)]
  const newest = <Item>(items: readonly Item[], count: number) =>
    items.slice(items.length - count).toReversed()
  const partial = indices(partialRounds).map((round) => {
    const scales = [
      boxed(at(numberScales, numberScales.length - 1)),
      ...newest(numberScales, hidden),
      ...newest(outputScales, hidden),
    ]
    const constant = unexplained(number(round + 1), description.step, values(round, round))
    const [row, scale] = scaleRow(description.step, constant, scales)
    outputScales.push(at(scales, 0))
    numberScales.push(scale)
    return row
  })
  const exitState = at(trace, outerRounds + partialRounds).before
  const exitScales = [
    ...newest(outputScales, 1),
    ...newest(numberScales, hidden),
    ...newest(outputScales, hidden).slice(1),
  ]
  const exit = scaleRows(
    description.exit.map((factors, index) => [
      factors,
      unexplained(at(exitState, index + 1), factors, values(partialRounds - 1, partialRounds)),
    ]),
    exitScales,
  )

  const after: Row[][] = []
  let scales = [at(numberScales, numberScales.length - 1), ...exit.scales]
  for (const round of indices(outerRounds - 1)) {
    const next = fullRound(outerRounds + partialRounds + round, scales)
    after.push(next.rows)
    scales = next.scales
  }
  return {
    inputConstants: at(constants, 0).slice(1),
    first: first.rows,
    before: [second.rows, third.rows],
    entry,
    past: past.rows,
    partial,
    exit: exit.rows,
    after,
    output: at(mix, 0).map((factor, index) => times(factor, boxed(at(scales, index)).inverse)),
  }
}
