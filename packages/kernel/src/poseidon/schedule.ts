import type { Field } from '../field.js'
import { at, indices } from '../montgomery.js'
import type { Vector } from './linear.js'
import { outerRounds, type Parameters } from './parameters.js'
import { type PartialSchedule, schedulePartialRounds } from './partial-schedule.js'
import { createScaling, type Row, type Scale } from './scaling.js'

/** Poseidon rearranged, as rows between its S-boxes. */
export type Schedule = PartialSchedule & {
  /** Added to the inputs. */
  readonly inputConstants: Vector
  /** After round 0, over the inputs' outputs: the last with factor 1, then the others in order. */
  readonly first: readonly Row[]
  /** After the other rounds before the partial ones but the last: output 0 with factor 1, then the others. */
  readonly before: readonly (readonly Row[])[]
  /** After the rounds that follow the partial ones, but the last. */
  readonly after: readonly (readonly Row[])[]
  /** Factors of all outputs of the last round. */
  readonly output: Vector
}

export function createSchedule(field: Field, parameters: Parameters): Schedule {
  const { width, partialRounds, constants, mix } = parameters
  const scaling = createScaling(field)
  const { unscaled, boxed, scaleRows, times } = scaling
  const constantOf = (round: number, element: number) => at(at(constants, round), element)

  const fullRound = (round: number, scales: readonly Scale[]) =>
    scaleRows(
      mix.map((factors, element) => ({ factors, constant: constantOf(round + 1, element) })),
      scales.map(boxed),
    )
  const fullRounds = (fromRound: number, count: number, start: readonly Scale[]) => {
    let scales = start
    const rows = indices(count).map((round) => {
      const scaled = fullRound(fromRound + round, scales)
      scales = scaled.scales
      return scaled.rows
    })
    return { rows, scales }
  }

  // Element 0 of the state starts as zero, so its contribution to the first mix is constant.
  const capacity = times(...indices(5).map(() => constantOf(0, 0)))
  const first = scaleRows(
    mix.map((factors, element) => ({
      factors: [at(factors, width - 1), ...factors.slice(1, width - 1)],
      constant: (constantOf(1, element) + at(factors, 0) * capacity) % field.prime,
    })),
    indices(width - 1).map(() => unscaled),
  )
  const before = fullRounds(1, outerRounds - 2, first.scales)
  const partial = schedulePartialRounds(field, parameters, scaling, before.scales.map(boxed))
  const after = fullRounds(outerRounds + partialRounds, outerRounds - 1, partial.scales)
  return {
    ...partial.schedule,
    inputConstants: at(constants, 0).slice(1),
    first: first.rows,
    before: before.rows,
    after: after.rows,
    output: at(mix, 0).map((factor, index) => times(factor, boxed(at(after.scales, index)).inverse)),
  }
}
