import type { Field } from '../field.js'
import { at, indices } from '../montgomery.js'
import { createLinearAlgebra, type Matrix, type Vector } from './linear.js'
import type { Parameters } from './parameters.js'

/**
 * The partial rounds as a recurrence. Only one number x passes an S-box in each, giving y; the other elements of the
 * state change linearly, so the next x follows from as many past x and y as there are other elements. A round then
 * costs one sum of products and one reduction, instead of one for every element.
 *
 * With h = width − 1 and round r, factors are in this order:
 * - `step`, for x(r+1): y(r), x(r), x(r−1) … x(r−h+1), y(r−1) … y(r−h);
 * - `exit`, for each other element of the state after the last round R: y(R−1), x(R) … x(R−h+1), y(R−2) … y(R−h).
 *
 * The recurrence begins with the round before the partial ones: y(−1) is its output 0, earlier y are zero, and x(−1),
 * x(−2) … are what the state would have come from: `past` has their factors over its other outputs.
 */
export type PartialRounds = {
  readonly step: Vector
  readonly past: readonly Vector[]
  readonly exit: readonly Vector[]
}

export function describePartialRounds(field: Field, { width, mix }: Parameters): PartialRounds {
  const { prime } = field
  const { dot, apply, applyLeft, multiply, inverse } = createLinearAlgebra(field)
  const reduced = (value: bigint) => ((value % prime) + prime) % prime
  const hidden = width - 1
  // s' = mix · (y, z): x' = corner·y + out·z and z' = into·y + among·z.
  const corner = at(at(mix, 0), 0)
  const out = at(mix, 0).slice(1)
  const into = mix.slice(1).map((row) => at(row, 0))
  const among = mix.slice(1).map((row) => row.slice(1))

  /** out · among^k: the influence of z on x, k rounds later. */
  const seen: Vector[] = [out]
  for (const k of indices(hidden)) seen.push(applyLeft(at(seen, k), among))
  /** The influence of y on x, k + 2 rounds later. */
  const echo = seen.map((row) => dot(row, into))
  const fromSeen = inverse(seen.slice(0, hidden))

  // Cayley-Hamilton: z's influence on x after h rounds is a linear combination of its influence in earlier rounds.
  const recalled = applyLeft(at(seen, hidden), fromSeen).toReversed()
  const ofPastOutputs = indices(hidden).map((age) => {
    const explained = indices(age).map((k) => at(recalled, k) * at(echo, age - 1 - k))
    const taken = explained.reduce((sum, value) => sum + value, at(recalled, age) * corner)
    return reduced(at(echo, age) - taken)
  })

  const amongInverse = inverse(among)
  const past: Vector[] = []
  for (const k of indices(hidden - 1)) past.push(applyLeft(k === 0 ? out : at(past, k - 1), amongInverse))

  const powers: Matrix[] = [
    indices(hidden).map((row) => indices(hidden).map((column) => (row === column ? 1n : 0n))),
  ]
  for (const k of indices(hidden)) powers.push(multiply(at(powers, k), among))
  const unseen = multiply(at(powers, hidden), fromSeen)
  const injected = powers.map((among) => apply(among, into))
  const exit = indices(hidden).map((element) => {
    const numbers = at(unseen, element)
    const outputs = indices(hidden).map((turn) => {
      const later = indices(hidden).filter((k) => k > turn)
      const explained = later.map((k) => at(numbers, k) * at(echo, k - turn - 1))
      const taken = explained.reduce((sum, value) => sum + value, at(numbers, turn) * corner)
      return reduced(at(at(injected, hidden - 1 - turn), element) - taken)
    })
    return [at(outputs, hidden - 1), ...numbers.toReversed(), ...outputs.slice(0, -1).toReversed()]
  })

  return { step: [corner, ...recalled, ...ofPastOutputs], past, exit }
}
