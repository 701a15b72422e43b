import { elementBytes, type Field } from '../field.js'
import { defineField } from '../field-functions.js'
import { indices } from '../montgomery.js'
import { type Code, control, i32 } from '../wasm/code.js'
import type { ModuleBuilder } from '../wasm/module.js'
import { defineExport, defineImport, enteringFactor, numberBytes } from '../words.js'
import { boxBytes, defineBox, defineRow, defineSpreadSum } from './functions.js'
import type { Layout } from './layout.js'
import type { Width } from './parameters.js'
import { rowShapes } from './row-shapes.js'
import type { Schedule } from './schedule.js'
import { scratchBytes } from './spread-element.js'

/** The parts from which a program's code is built. */
export type Build = {
  readonly width: Width
  readonly schedule: Schedule
  readonly layout: Layout
  readonly places: ReturnType<typeof placeAll>
  readonly functions: ReturnType<typeof defineFunctions>
}

/** Assigns memory to all parts of a program. */
export function placeAll(layout: Layout, width: Width, { partial, inputConstants }: Schedule) {
  const hidden = width - 1
  const inputs = layout.reserve(hidden * numberBytes)
  const output = layout.reserve(numberBytes)
  layout.reserve(8) // imports and searches read a few bytes more than they use
  const line = layout.reserve((hidden + partial.length + 1) * boxBytes)
  return {
    inputs,
    output,
    scratch: layout.reserve(scratchBytes),
    /** The last input and the hash, as elements. */
    last: layout.reserve(elementBytes),
    hashed: layout.reserve(elementBytes),
    imported: layout.reserve(elementBytes),
    one: layout.element(1n),
    inputConstants: inputConstants.map(layout.element),
    /** Boxes of round 0. While only the last input changes, the others and all that follows from them are reused. */
    start: layout.reserve(width * boxBytes),
    fixed: indices(width).map(() => layout.reserve(elementBytes)),
    state: layout.reserve(width * boxBytes),
    /** One box for each partial round, and as many before them as a round looks back. */
    line,
    boxOf: (round: number) => line + (round + hidden) * boxBytes,
  }
}

/** Indices of the functions that a program calls. */
export function defineFunctions(
  module: ModuleBuilder,
  field: Field,
  width: Width,
  { scratch, last, one }: ReturnType<typeof placeAll>,
) {
  const shapes = rowShapes(width)
  const arithmetic = defineField(module, { field })
  return {
    importNumber: defineImport(module, field, enteringFactor(field)),
    exportNumber: defineExport(module, field),
    box: defineBox(module, field),
    sumOfElements: defineSpreadSum(module, field, 'element'),
    sumWithSpread: defineSpreadSum(module, field, 'spread'),
    row: {
      first: defineRow(module, field, shapes.first, scratch),
      full: defineRow(module, field, shapes.full, scratch),
      past: defineRow(module, field, shapes.past, scratch),
      partial: defineRow(module, field, shapes.partial, scratch),
      exit: defineRow(module, field, shapes.exit, scratch),
      output: defineRow(module, field, shapes.output, scratch),
    },
    /** Adds one to the last input. */
    advance: [call(arithmetic.add, last, last, one), call(arithmetic.canonical, last, last)],
  }
}

/** Calls with addresses that are known when the code is generated. */
export const call = (func: number, ...addresses: readonly number[]): Code =>
  control.call(func, ...addresses.map((address) => i32.const(address)))
