import { indices } from '../montgomery.js'
import type { Operand, RowShape } from './functions.js'
import type { Width } from './parameters.js'

const output = (box: number): Operand => ({ box, part: 'output' })
const number = (box: number): Operand => ({ box, part: 'number' })

/** The operands of each kind of row, as boxes counted from the box that the row is given. */
export type RowShapes = Readonly<Record<'first' | 'full' | 'past' | 'partial' | 'exit' | 'output', RowShape>>

export function rowShapes(width: Width): RowShapes {
  const hidden = width - 1
  const others = indices(hidden).map((index) => output(index + 1))
  // Partial rounds are stored in a line of boxes. A row is given the oldest box that it reads.
  const numbers = indices(hidden).map((age) => number(hidden - age))
  const outputsUpTo = (newest: number, count: number) => indices(count).map((age) => output(newest - age))
  return {
    first: { terms: others.slice(0, -1), result: 'element' },
    full: { addend: output(0), terms: others, result: 'spread' },
    past: { addend: output(1), terms: others.slice(1), result: 'spread' },
    partial: {
      addend: output(hidden),
      terms: [...numbers, ...outputsUpTo(hidden - 1, hidden)],
      result: 'spread',
    },
    exit: {
      addend: output(hidden - 1),
      terms: [...numbers, ...outputsUpTo(hidden - 2, hidden - 1)],
      result: 'spread',
    },
    output: { terms: [output(0), ...others], result: 'element' },
  }
}
