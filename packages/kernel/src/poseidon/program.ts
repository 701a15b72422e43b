import { elementBytes, type Field } from '../field.js'
import { defineField } from '../field-functions.js'
import { at, indices } from '../montgomery.js'
import { type Code, control, i32, i64 } from '../wasm/code.js'
import { createMemory, instantiate, pageBytes } from '../wasm/instance.js'
import { createModule, type FunctionScope } from '../wasm/module.js'
import { defineExport, defineImport, enteringFactor, numberBytes } from '../words.js'
import { boxBytes, defineBox, defineRow, defineSpreadSum, type Operand, type RowShape } from './functions.js'
import { createLayout } from './layout.js'
import { drawParameters, type Width } from './parameters.js'
import type { Row } from './scaling.js'
import { createSchedule } from './schedule.js'
import { scratchBytes } from './spread-element.js'

/** Poseidon of one width, compiled. Numbers in its memory are 32 bytes, little-endian. */
export type Program = {
  readonly inputs: Uint8Array
  readonly output: Uint8Array
  /** Hashes the inputs. */
  hash(): void
  /**
   * Hashes with the last input, then with it plus one, and so on. The index of the first try whose hash has no bit of
   * the mask at byte `atByte`, or −1.
   */
  search(tries: number, atByte: number, mask: bigint): number
}

type Exports = {
  readonly hash: () => void
  readonly search: (tries: number, atByte: number, mask: bigint) => number
}

const output = (box: number): Operand => ({ box, part: 'output' })
const number = (box: number): Operand => ({ box, part: 'number' })

/** What rows of each kind combine, by boxes counted from the one they are given. */
function shapesOf(width: Width) {
  const hidden = width - 1
  const others = indices(hidden).map((index) => output(index + 1))
  const spread = { result: 'spread' } as const
  // Partial rounds stand in a line of boxes, and a row is given the oldest it needs.
  const numbersUpTo = (newest: number) => indices(hidden).map((age) => number(newest - age))
  const outputsUpTo = (newest: number, count: number) => indices(count).map((age) => output(newest - age))
  return {
    first: { terms: others.slice(0, -1), result: 'element' },
    full: { addend: output(0), terms: others, ...spread },
    past: { addend: output(1), terms: others.slice(1), ...spread },
    partial: {
      addend: output(hidden),
      terms: [...numbersUpTo(hidden), ...outputsUpTo(hidden - 1, hidden)],
      ...spread,
    },
    exit: {
      addend: output(hidden - 1),
      terms: [...numbersUpTo(hidden), ...outputsUpTo(hidden - 2, hidden - 1)],
      ...spread,
    },
    output: { terms: [output(0), ...others], result: 'element' },
  } as const satisfies Record<string, RowShape>
}

export function createProgram(field: Field, width: Width): Program {
  const schedule = createSchedule(field, drawParameters(field, width))
  const layout = createLayout(field)
  const module = createModule()
  const hidden = width - 1
  const rounds = schedule.partial.length

  const inputs = layout.reserve(hidden * numberBytes)
  const result = layout.reserve(numberBytes)
  layout.reserve(8) // imports and tests read a few bytes more than they use
  const scratch = layout.reserve(scratchBytes)
  const states = [layout.reserve(width * boxBytes), layout.reserve(width * boxBytes)] as const
  const line = layout.reserve((hidden + rounds + 1) * boxBytes)
  const lineBox = (round: number) => line + (round + hidden) * boxBytes
  const last = layout.reserve(elementBytes)
  const hashed = layout.reserve(elementBytes)
  const fixed = layout.reserve(width * elementBytes)
  const imported = layout.reserve(elementBytes)
  const one = layout.element(1n)
  const inputConstants = schedule.inputConstants.map(layout.element)

  const arithmetic = defineField(module, { field })
  const importNumber = defineImport(module, field, enteringFactor(field))
  const exportNumber = defineExport(module, field)
  const box = defineBox(module, field)
  const sumOfElements = defineSpreadSum(module, field, 'element')
  const sumWithSpread = defineSpreadSum(module, field, 'spread')
  const shapes = shapesOf(width)
  const row = {
    first: defineRow(module, field, shapes.first, scratch),
    full: defineRow(module, field, shapes.full, scratch),
    past: defineRow(module, field, shapes.past, scratch),
    partial: defineRow(module, field, shapes.partial, scratch),
    exit: defineRow(module, field, shapes.exit, scratch),
    output: defineRow(module, field, shapes.output, scratch),
  }

  const call = (func: number, ...addresses: number[]) =>
    control.call(func, ...addresses.map((address) => i32.const(address)))
  const boxes = (state: number) => indices(width).map((index) => call(box, state + index * boxBytes))
  const fullRows = (from: number, to: number, rows: readonly Row[]) =>
    rows.map((entry, index) => call(row.full, to + index * boxBytes, from, layout.row(entry)))
  const enter = (index: number) => [
    call(importNumber, imported, inputs + index * numberBytes),
    call(sumOfElements, states[0] + (index + 1) * boxBytes, at(inputConstants, index), imported),
  ]

  /** All that does not depend on the last input. */
  const prepare: Code = [
    indices(hidden - 1).map((index) => [enter(index), call(box, states[0] + (index + 1) * boxBytes)]),
    schedule.first.map((entry, index) =>
      call(row.first, fixed + index * elementBytes, states[0], layout.row(entry)),
    ),
    call(importNumber, last, inputs + (hidden - 1) * numberBytes),
  ]

  function partialRounds(scope: FunctionScope): Code {
    const rows = schedule.partial.map(layout.row)
    const stride = at(rows, 1) - at(rows, 0)
    const current = scope.local('i32')
    const entry = scope.local('i32')
    const boxAt = (age: number) => i32.add(current.get, i32.const(age * boxBytes))
    return [
      current.set(i32.const(lineBox(-hidden))),
      entry.set(i32.const(at(rows, 0))),
      control.forever([
        control.call(box, boxAt(hidden)),
        control.call(row.partial, boxAt(hidden + 1), current.get, entry.get),
        entry.set(i32.add(entry.get, i32.const(stride))),
        current.set(boxAt(1)),
        control.leaveIf(1, i32.eq(current.get, i32.const(lineBox(rounds - hidden)))),
      ]),
    ]
  }

  const complete = module.define({
    params: [],
    body(scope) {
      const [even, odd] = states
      const lastBox = even + hidden * boxBytes
      const [second, third] = [at(schedule.before, 0), at(schedule.before, 1)]
      return [
        call(sumOfElements, lastBox, at(inputConstants, hidden - 1), last),
        call(box, lastBox),
        schedule.first.map((_, index) =>
          call(sumWithSpread, odd + index * boxBytes, fixed + index * elementBytes, lastBox + boxBytes / 2),
        ),
        boxes(odd),
        // The even state keeps what does not change in a search; the line of partial rounds is free until they begin.
        fullRows(odd, line, second),
        boxes(line),
        fullRows(line, odd, third),
        boxes(odd),
        call(row.full, lineBox(0), odd, layout.row(schedule.entry)),
        schedule.past.map((entry, index) => call(row.past, lineBox(-1 - index), odd, layout.row(entry))),
        control.copy(lineBox(-1) + boxBytes / 2, odd + boxBytes / 2, boxBytes / 2),
        indices(hidden - 1).map((index) => control.clear(lineBox(-2 - index) + boxBytes / 2, boxBytes / 2)),
        partialRounds(scope),
        control.copy(odd, lineBox(rounds), boxBytes / 2),
        schedule.exit.map((entry, index) =>
          call(row.exit, odd + (index + 1) * boxBytes, lineBox(rounds - hidden), layout.row(entry)),
        ),
        schedule.after.map((rows, index) => {
          const [from, to] = index % 2 === 0 ? [odd, line] : [line, odd]
          return [boxes(from), fullRows(from, to, rows)]
        }),
        boxes(line),
        call(row.output, hashed, line, layout.row({ factors: schedule.output, constant: 0n })),
        call(exportNumber, result, hashed),
      ]
    },
  })

  module.define({ params: [], exportAs: 'hash', body: () => [prepare, control.call(complete)] })
  module.define({
    params: ['i32', 'i32', 'i64'],
    result: 'i32',
    exportAs: 'search',
    body(scope) {
      const [tries, atByte, mask] = [scope.param(0), scope.param(1), scope.param(2)]
      const tried = scope.local('i32')
      const masked = i64.and(i64.load(i32.add(atByte.get, i32.const(result))), mask.get)
      return [
        prepare,
        control.forever([
          control.leaveIf(1, i32.geU(tried.get, tries.get)),
          control.call(complete),
          control.if(i64.eqz(masked), control.return(tried.get)),
          call(arithmetic.add, last, last, one),
          call(arithmetic.canonical, last, last),
          tried.set(i32.add(tried.get, i32.const(1))),
        ]),
        i32.const(-1),
      ]
    },
  })

  const memory = createMemory(Math.ceil(layout.size() / pageBytes))
  layout.write(memory)
  const exports = instantiate<Exports>(module.bytes(), memory)
  return {
    inputs: new Uint8Array(memory.buffer, inputs, hidden * numberBytes),
    output: new Uint8Array(memory.buffer, result, numberBytes),
    hash: exports.hash,
    search: exports.search,
  }
}
