import { type Field, power } from '../field.js'
import { at, indices } from '../montgomery.js'
import { createGrain } from './grain.js'
import { createLinearAlgebra, type Matrix, type Vector } from './linear.js'

/** Elements of the state: one more than there are inputs. */
export type Width = 3 | 4

/** Rounds before the partial ones, and as many after them. */
export const outerRounds = 4

/** Poseidon as it is defined, with circomlib's numbers of rounds. */
export type Parameters = {
  readonly width: Width
  readonly partialRounds: number
  /** Added to the state before each round. */
  readonly constants: readonly Vector[]
  readonly mix: Matrix
}

const partialRoundsOf: Record<Width, number> = { 3: 57, 4: 56 }

/** Draws the constants by which Poseidon is defined, and the mixing matrix after them. */
export function drawParameters(field: Field, width: Width): Parameters {
  const partialRounds = partialRoundsOf[width]
  const grain = createGrain(width, 2 * outerRounds, partialRounds)
  const constants = indices(2 * outerRounds + partialRounds).map(() =>
    indices(width).map(() => grain.below(field.prime)),
  )
  const rows = indices(width).map(() => grain.modulo(field.prime))
  const columns = indices(width).map(() => grain.modulo(field.prime))
  const mix = rows.map((row) => columns.map((column) => field.inverse((row + column) % field.prime)))
  return { width, partialRounds, constants, mix }
}

/** States of one round: as its S-boxes get them, and as they leave them. */
export type RoundTrace = { readonly before: Vector; readonly after: Vector }

/** Runs the permutation step by step, as it is defined. */
export function tracePermutation(field: Field, parameters: Parameters, start: Vector): RoundTrace[] {
  const { constants, mix, partialRounds } = parameters
  const { apply } = createLinearAlgebra(field)
  const trace: RoundTrace[] = []
  let state = start
  for (const [round, added] of constants.entries()) {
    const before = state.map((value, index) => (value + at(added, index)) % field.prime)
    const isPartial = round >= outerRounds && round < outerRounds + partialRounds
    const after = before.map((value, index) =>
      isPartial && index > 0 ? value : power(value, 5n, field.prime),
    )
    trace.push({ before, after })
    state = apply(mix, after)
  }
  return trace
}
