import type { Field } from '../field.js'
import type { Lanes } from '../lanes.js'
import { at, indices } from '../montgomery.js'
import { type Code, control, i32, i64 } from '../wasm/code.js'
import { createMemory, instantiate, pageBytes } from '../wasm/instance.js'
import { createModule, type FunctionScope } from '../wasm/module.js'
import { numberBytes } from '../words.js'
import { createLayout } from './layout.js'
import { drawParameters, type Width } from './parameters.js'
import { type Build, call, defineFunctions, placeAll } from './program-parts.js'
import type { Row } from './scaling.js'
import { createSchedule } from './schedule.js'

/** Poseidon of one width, compiled. Numbers in its memory are 32 bytes, little-endian. */
export type Program = {
  /** The inputs of each lane in turn. */
  readonly inputs: Uint8Array
  readonly outputs: Uint8Array
  /** Hashes the inputs. */
  hash(): void
  /**
   * Hashes, then adds the number of lanes to every last input, and so on. Counted through the lanes, returns the index
   * of the first hash in which all bits of the mask, from byte `atByte` on, are zero, or −1. It may be one of the hashes
   * that fill the lanes up after the last try.
   */
  search(tries: number, atByte: number, mask: bigint): number
}

export function createProgram(field: Field, lanes: Lanes, width: Width): Program {
  const schedule = createSchedule(field, drawParameters(field, width))
  const module = createModule()
  const layout = createLayout(field, lanes)
  const places = placeAll(layout, lanes, width, schedule)
  const functions = defineFunctions(module, field, lanes, width, places)
  const build: Build = { width, lanes, schedule, layout, places, functions }
  const prepare = prepareCode(build)
  const complete = module.define({ params: [], body: (scope) => completeCode(build, scope) })
  module.define({ params: [], exportAs: 'hash', body: () => [prepare, control.call(complete)] })
  module.define({
    params: ['i32', 'i32', 'i64'],
    result: 'i32',
    exportAs: 'search',
    body: (scope) => searchCode(build, scope, { prepare, complete }),
  })

  const memory = createMemory(Math.ceil(layout.size() / pageBytes))
  layout.write(memory)
  return {
    ...instantiate<Pick<Program, 'hash' | 'search'>>(module.bytes(), memory),
    inputs: new Uint8Array(memory.buffer, places.inputs, lanes.count * (width - 1) * numberBytes),
    outputs: new Uint8Array(memory.buffer, places.outputs, lanes.count * numberBytes),
  }
}

/** A number of the state: input plus constant. */
const startBox = ({ places, functions }: Build, index: number, input: number): Code =>
  call(
    functions.sumOfElements,
    places.start + (index + 1) * places.boxBytes,
    at(places.inputConstants, index),
    input,
  )

/** Computes everything that does not depend on the last input. */
function prepareCode(build: Build): Code {
  const { width, lanes, schedule, layout, places, functions } = build
  const { importNumber, box, row } = functions
  const last = width - 2
  const imported = (element: number, input: number) =>
    indices(lanes.count).map((lane) =>
      call(importNumber, element + 4 * lane, places.inputs + (lane * (width - 1) + input) * numberBytes),
    )
  const entered = indices(last).map((index) => [
    imported(places.imported, index),
    startBox(build, index, places.imported),
    call(box, places.start + (index + 1) * places.boxBytes),
  ])
  const followed = schedule.first.map((entry, index) =>
    call(row.first, at(places.fixed, index), places.start, layout.row(entry)),
  )
  return [entered, followed, imported(places.last, last)]
}

/** Computes the hash from the last input. */
function completeCode(build: Build, scope: FunctionScope): Code {
  const { width, lanes, schedule, layout, places, functions } = build
  const { box, row, sumWithSpread, exportNumber } = functions
  const { state, line, boxBytes, spreadBytes } = places
  const boxes = (from: number) => indices(width).map((index) => call(box, from + index * boxBytes))
  const fullRound = (rows: readonly Row[], from: number, to: number) => [
    boxes(from),
    rows.map((entry, index) => call(row.full, to + index * boxBytes, from, layout.row(entry))),
  ]
  /** Full rounds alternate between the state and the line of boxes, which only the partial rounds need. */
  const thereAndBack = (rounds: readonly (readonly Row[])[]) =>
    rounds.map((rows, round) =>
      round % 2 === 0 ? fullRound(rows, state, line) : fullRound(rows, line, state),
    )
  const lastBox = places.start + (width - 1) * boxBytes
  return [
    startBox(build, width - 2, places.last),
    call(box, lastBox),
    places.fixed.map((element, index) =>
      call(sumWithSpread, state + index * boxBytes, element, lastBox + spreadBytes),
    ),
    thereAndBack(schedule.before),
    boxes(state),
    partialCode(build, scope),
    thereAndBack(schedule.after),
    boxes(line),
    call(row.output, places.hashed, line, layout.row({ factors: schedule.output, constant: 0n })),
    indices(lanes.count).map((lane) =>
      call(exportNumber, places.outputs + lane * numberBytes, places.hashed + 4 * lane),
    ),
  ]
}

/** The partial rounds, from the outputs of the state to its next numbers. */
function partialCode({ width, schedule, layout, places, functions }: Build, scope: FunctionScope): Code {
  const { box, row } = functions
  const { state, boxOf, boxBytes, spreadBytes } = places
  const hidden = width - 1
  const rounds = schedule.partial.length
  const rows = schedule.partial.map(layout.row)
  const [current, entry] = [scope.local('i32'), scope.local('i32')]
  const boxAt = (index: number) => i32.add(current.get, i32.const(index * boxBytes))
  return [
    call(row.full, boxOf(0), state, layout.row(schedule.entry)),
    schedule.past.map((factors, age) => call(row.past, boxOf(-1 - age), state, layout.row(factors))),
    control.copy(boxOf(-1) + spreadBytes, state + spreadBytes, spreadBytes),
    indices(hidden - 1).map((age) => control.clear(boxOf(-2 - age) + spreadBytes, spreadBytes)),
    current.set(i32.const(boxOf(-hidden))),
    entry.set(i32.const(at(rows, 0))),
    control.forever([
      control.call(box, boxAt(hidden)),
      control.call(row.partial, boxAt(hidden + 1), current.get, entry.get),
      entry.set(i32.add(entry.get, i32.const(at(rows, 1) - at(rows, 0)))),
      current.set(boxAt(1)),
      control.leaveIf(1, i32.eq(current.get, i32.const(boxOf(rounds - hidden)))),
    ]),
    control.copy(state, boxOf(rounds), spreadBytes),
    schedule.exit.map((factors, index) =>
      call(row.exit, state + (index + 1) * boxBytes, boxOf(rounds - hidden), layout.row(factors)),
    ),
  ]
}

/** (tries, atByte, mask): see `Program.search`. */
function searchCode(
  { lanes, places, functions }: Build,
  scope: FunctionScope,
  { prepare, complete }: { prepare: Code; complete: number },
): Code {
  const [tries, atByte, mask] = [scope.param(0), scope.param(1), scope.param(2)]
  const tried = scope.local('i32')
  const masked = (lane: number) =>
    i64.and(i64.load(atByte.get, places.outputs + lane * numberBytes), mask.get)
  return [
    prepare,
    control.forever([
      control.leaveIf(1, i32.geU(tried.get, tries.get)),
      control.call(complete),
      indices(lanes.count).map((lane) => [
        control.if(i64.eqz(masked(lane)), control.return(tried.get)),
        tried.set(i32.add(tried.get, i32.const(1))),
      ]),
      functions.advance,
    ]),
    i32.const(-1),
  ]
}
