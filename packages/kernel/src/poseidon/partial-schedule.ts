import type { Field } from '../field.js'
import { at, indices } from '../montgomery.js'
import { createLinearAlgebra, type Vector } from './linear.js'
import { outerRounds, type Parameters, tracePermutation } from './parameters.js'
import { describePartialRounds } from './partial-rounds.js'
import type { Row, Scale, Scaling } from './scaling.js'

export type PartialSchedule = {
  /** After the last round before the partial ones: their first number, over output 0 with factor 1 and the others. */
  readonly entry: Row
  /** Numbers that stand in for those of earlier partial rounds: output 1 with factor 1, then those after it. */
  readonly past: readonly Row[]
  /** After each partial round: see `describePartialRounds` for the order. */
  readonly partial: readonly Row[]
  /** All but the first number of the round after the partial ones. */
  readonly exit: readonly Row[]
}

type Scheduled = { readonly schedule: PartialSchedule; readonly scales: readonly Scale[] }

const newest = <Item>(items: readonly Item[], count: number) => items.slice(items.length - count).toReversed()

/** `outputScales` belong to the full round before. Returns the scales of the numbers of the full round after. */
export function schedulePartialRounds(
  field: Field,
  parameters: Parameters,
  { unscaled, boxed, scaleRow, scaleRows }: Scaling,
  outputScales: readonly Scale[],
): Scheduled {
  const { width, partialRounds, constants, mix } = parameters
  const hidden = width - 1
  const description = describePartialRounds(field, parameters)
  const constantsOf = createConstants(field, parameters, description.past)
  const entry = scaleRow({ factors: at(mix, 0), constant: at(at(constants, outerRounds), 0) }, outputScales)
  const past = scaleRows(
    description.past.map((factors) => ({ factors, constant: 0n })),
    outputScales.slice(1),
  )

  const numbers = [...past.scales.toReversed(), entry.scale]
  const outputs = [...indices(hidden - 1).map(() => unscaled), at(outputScales, 0)]
  const partial = indices(partialRounds).map((round) => {
    const output = boxed(at(numbers, numbers.length - 1))
    const { row, scale } = scaleRow(
      { factors: description.step, constant: constantsOf.step(round, description.step) },
      [output, ...newest(numbers, hidden), ...newest(outputs, hidden)],
    )
    outputs.push(output)
    numbers.push(scale)
    return row
  })
  const [lastOutput, ...earlierOutputs] = newest(outputs, hidden)
  const exit = scaleRows(
    description.exit.map((factors, index) => ({ factors, constant: constantsOf.exit(index, factors) })),
    [lastOutput ?? unscaled, ...newest(numbers, hidden), ...earlierOutputs],
  )
  return {
    schedule: { entry: entry.row, past: past.rows, partial, exit: exit.rows },
    scales: [at(numbers, numbers.length - 1), ...exit.scales],
  }
}

/**
 * Constants of the recurrence: the part of each number that the factors do not account for. It is the same for all
 * inputs, so one run of the definition yields it.
 */
function createConstants(field: Field, parameters: Parameters, past: readonly Vector[]) {
  const { prime } = field
  const { width, partialRounds } = parameters
  const { dot } = createLinearAlgebra(field)
  const hidden = width - 1
  const trace = tracePermutation(
    field,
    parameters,
    indices(width).map(() => 0n),
  )
  const beforePartial = at(trace, outerRounds - 1).after.slice(1)
  const number = (round: number) =>
    round < 0 ? dot(at(past, -round - 1), beforePartial) : at(at(trace, outerRounds + round).before, 0)
  const output = (round: number) => (round < -1 ? 0n : at(at(trace, outerRounds + round).after, 0))
  const unexplained = (value: bigint, factors: Vector, sources: Vector) =>
    (((value - dot(factors, sources)) % prime) + prime) % prime
  const history = (newestNumber: number, newestOutput: number, outputCount: number) => [
    output(newestOutput),
    ...indices(hidden).map((age) => number(newestNumber - age)),
    ...indices(outputCount).map((age) => output(newestOutput - 1 - age)),
  ]
  return {
    step: (round: number, factors: Vector) =>
      unexplained(number(round + 1), factors, history(round, round, hidden)),
    exit: (index: number, factors: Vector) => {
      const value = at(at(trace, outerRounds + partialRounds).before, index + 1)
      return unexplained(value, factors, history(partialRounds, partialRounds - 1, hidden - 1))
    },
  }
}
