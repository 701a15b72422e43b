import type { Field } from '../field.js'
import { at, indices } from '../montgomery.js'
import { type Code, control, i32, i64 } from '../wasm/code.js'
import { createMemory, instantiate, pageBytes } from '../wasm/instance.js'
import { createModule, type FunctionScope } from '../wasm/module.js'
import { numberBytes } from '../words.js'
import { boxBytes } from './functions.js'
import { createLayout } from './layout.js'
import { drawParameters, type Width } from './parameters.js'
import { type Build, call, defineFunctions, placeAll } from './program-parts.js'
import type { Row } from './scaling.js'
import { createSchedule } from './schedule.js'
import { spreadBytes } from './spread-element.js'

/** Poseidon of one width, compiled. Numbers in its memory are 32 bytes, little-endian. */
export type Program = {
  readonly inputs: Uint8Array
  readonly output: Uint8Array
  /** Hashes the inputs. */
  hash(): void
  /**
   * Hashes with the last input, then with the last input plus one, and so on. Returns the index of the first hash in
   * which all bits of the mask, from byte `atByte` on, are zero, or −1.
   */
  search(tries: number, atByte: number, mask: bigint): number
}

export function createProgram(field: Field, width: Width): Program {
  const schedule = createSchedule(field, drawParameters(field, width))
  const module = createModule()
  const layout = createLayout(field)
  const places = placeAll(layout, width, schedule)
  const functions = defineFunctions(module, field, width, places)
  const build: Build = { width, schedule, layout, places, functions }
  const prepare = prepareCode(build)
  const complete = module.define({ params: [], body: (scope) => completeCode(build, scope) })
  module.define({ params: [], exportAs: 'hash', body: () => [prepare, control.call(complete)] })
  module.define({
    params: ['i32', 'i32', 'i64'],
    result: 'i32',
    exportAs: 'search',
    body: (scope) => searchCode(scope, places.output, { prepare, complete, advance: functions.advance }),
  })

  const memory = createMemory(Math.ceil(layout.size() / pageBytes))
  layout.write(memory)
  return {
    ...instantiate<Pick<Program, 'hash' | 'search'>>(module.bytes(), memory),
    inputs: new Uint8Array(memory.buffer, places.inputs, (width - 1) * numberBytes),
    output: new Uint8Array(memory.buffer, places.output, numberBytes),
  }
}

/** A number of the state: input plus constant. */
const startBox = ({ places, functions }: Build, index: number, input: number): Code =>
  call(
    functions.sumOfElements,
    places.start + (index + 1) * boxBytes,
    at(places.inputConstants, index),
    input,
  )

/** Computes everything that does not depend on the last input. */
function prepareCode(build: Build): Code {
  const { width, schedule, layout, places, functions } = build
  const { importNumber, box, row } = functions
  const last = width - 2
  const entered = indices(last).map((index) => [
    call(importNumber, places.imported, places.inputs + index * numberBytes),
    startBox(build, index, places.imported),
    call(box, places.start + (index + 1) * boxBytes),
  ])
  const followed = schedule.first.map((entry, index) =>
    call(row.first, at(places.fixed, index), places.start, layout.row(entry)),
  )
  return [entered, followed, call(importNumber, places.last, places.inputs + last * numberBytes)]
}

/** Computes the hash from the last input. */
function completeCode(build: Build, scope: FunctionScope): Code {
  const { width, schedule, layout, places, functions } = build
  const { box, row, sumWithSpread, exportNumber } = functions
  const { state, line } = places
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
    call(exportNumber, places.output, places.hashed),
  ]
}

/** The partial rounds, from the outputs of the state to its next numbers. */
function partialCode({ width, schedule, layout, places, functions }: Build, scope: FunctionScope): Code {
  const { box, row } = functions
  const { state, boxOf } = places
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
  scope: FunctionScope,
  output: number,
  { prepare, complete, advance }: { prepare: Code; complete: number; advance: Code },
): Code {
  const [tries, atByte, mask] = [scope.param(0), scope.param(1), scope.param(2)]
  const tried = scope.local('i32')
  const masked = i64.and(i64.load(i32.add(atByte.get, i32.const(output))), mask.get)
  return [
    prepare,
    control.forever([
      control.leaveIf(1, i32.geU(tried.get, tries.get)),
      control.call(complete),
      control.if(i64.eqz(masked), control.return(tried.get)),
      advance,
      tried.set(i32.add(tried.get, i32.const(1))),
    ]),
    i32.const(-1),
  ]
}
