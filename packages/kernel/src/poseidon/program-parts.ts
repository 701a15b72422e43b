import { type Field, limbCount } from '../field.js'
import { defineField } from '../field-functions.js'
import type { Lanes } from '../lanes.js'
import { indices } from '../montgomery.js'
import { type Code, control, i32 } from '../wasm/code.js'
import type { ModuleBuilder } from '../wasm/module.js'
import { defineExport, defineImport, enteringFactor, numberBytes } from '../words.js'
import { boxWords, defineBox, defineRow, defineSpreadSum, type RowShape } from './functions.js'
import type { Layout } from './layout.js'
import type { Width } from './parameters.js'
import { rowShapes } from './row-shapes.js'
import type { Schedule } from './schedule.js'
import { scratchBytes, spreadWords } from './spread-element.js'

/** The parts from which a program's code is built. */
export type Build = {
  readonly width: Width
  readonly lanes: Lanes
  readonly schedule: Schedule
  readonly layout: Layout
  readonly places: ReturnType<typeof placeAll>
  readonly functions: ReturnType<typeof defineFunctions>
}

/** Assigns memory to all parts of a program. */
export function placeAll(layout: Layout, lanes: Lanes, width: Width, { partial, inputConstants }: Schedule) {
  const hidden = width - 1
  const elementBytes = limbCount * lanes.limbBytes
  const spreadBytes = spreadWords * lanes.limbBytes
  const boxBytes = boxWords * lanes.limbBytes
  const inputs = layout.reserve(lanes.count * hidden * numberBytes)
  const outputs = layout.reserve(lanes.count * numberBytes)
  layout.reserve(8) // imports and searches read a few bytes more than they use
  const line = layout.reserve((hidden + partial.length + 1) * boxBytes)
  return {
    boxBytes,
    spreadBytes,
    /** Of each lane in turn. */
    inputs,
    outputs,
    scratch: layout.reserve(scratchBytes(lanes)),
    /** The last input and the hash, as elements. */
    last: layout.reserve(elementBytes),
    hashed: layout.reserve(elementBytes),
    imported: layout.reserve(elementBytes),
    stride: layout.element(BigInt(lanes.count)),
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
  lanes: Lanes,
  width: Width,
  { scratch, last, stride }: ReturnType<typeof placeAll>,
) {
  const shapes = rowShapes(width)
  const arithmetic = defineField(module, { field, lanes })
  const row = (shape: RowShape) => defineRow(module, field, lanes, shape, scratch)
  return {
    importNumber: defineImport(module, field, enteringFactor(field), lanes),
    exportNumber: defineExport(module, field, lanes),
    box: defineBox(module, field, lanes),
    sumOfElements: defineSpreadSum(module, field, lanes, 'element'),
    sumWithSpread: defineSpreadSum(module, field, lanes, 'spread'),
    row: {
      first: row(shapes.first),
      full: row(shapes.full),
      past: row(shapes.past),
      partial: row(shapes.partial),
      exit: row(shapes.exit),
      output: row(shapes.output),
    },
    /** Adds the number of lanes to every last input. */
    advance: [
      call(arithmetic.add, last, last, stride),
      indices(lanes.count).map((lane) => call(arithmetic.canonical, last + 4 * lane, last + 4 * lane)),
    ],
  }
}

/** Calls with addresses that are known when the code is generated. */
export const call = (func: number, ...addresses: readonly number[]): Code =>
  control.call(func, ...addresses.map((address) => i32.const(address)))
