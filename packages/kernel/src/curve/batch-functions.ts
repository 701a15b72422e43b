import { type Code, control, i32 } from '../wasm/code.js'
import type { FunctionScope, Local, ModuleBuilder } from '../wasm/module.js'
import {
  type CoordinateFunctions,
  type CoordinateShape,
  coordinateBytes,
  coordinatePairBytes,
  coordinateScratchBytes,
  defineCoordinates,
} from './coordinate.js'

/** Three addresses for one addition: two points and where their sum goes. */
export const additionBytes = 12
/** Additions done side by side. */
export const additionLanes = 2

/**
 * Additions of curve points, many at a time, in four steps. Each slope needs a division. A tree of products turns all
 * these divisions into one, which the caller does between the second and the third step.
 *
 * The tree is a heap: its node i is the product of nodes 2i and 2i + 1, leaves start at `count`, and the root is
 * node 1. A point whose address is odd is taken negative; its negative y stands behind its y.
 */
export type BatchFunctions = {
  /** (list, count, tree): leaves become the differences of x coordinates. */
  readonly differences: (list: number, count: number, tree: number) => void
  /** (count, tree): every node above the leaves. */
  readonly products: (count: number, tree: number) => void
  /** (count, tree): with the root inverted, inverts every leaf. */
  readonly inverses: (count: number, tree: number) => void
  /** (list, count, tree): the sums, from inverted leaves. */
  readonly sums: (list: number, count: number, tree: number) => void
}

/** Memory the functions need for themselves. */
export const scratchBytes = (shape: CoordinateShape): number =>
  ownSlots * coordinatePairBytes(shape) + coordinateScratchBytes(shape)
const ownSlots = 3

export function defineBatchFunctions(
  module: ModuleBuilder,
  { shape, scratch }: { readonly shape: CoordinateShape; readonly scratch: number },
): void {
  const functions = defineCoordinates(module, shape, scratch + ownSlots * coordinatePairBytes(shape))
  defineDifferences(module, shape, functions)
  defineProducts(module, shape, functions)
  defineInverses(module, shape, functions, scratch)
  defineSums(module, shape, functions, scratch)
}

const node = (shape: CoordinateShape, tree: Code, index: Code): Code =>
  i32.add(tree, i32.mul(index, i32.const(coordinatePairBytes(shape))))

const increase = (local: Local, by: number): Code => local.set(i32.add(local.get, i32.const(by)))

/** Generates a loop over the list, two additions at a time. `step` generates its body from the current addresses. */
function eachTwo(
  scope: FunctionScope,
  { list, count }: { readonly list: Code; readonly count: Code },
  step: (addresses: { a: Two; b: Two; out: Two }, index: Code) => Code,
): Code {
  const entry = scope.local('i32')
  const index = scope.local('i32')
  const two = (): [Local, Local] => [scope.local('i32'), scope.local('i32')]
  const [a, b, out] = [two(), two(), two()]
  const loads = [a, b, out].flatMap((lanes, field) =>
    lanes.map((lane, at) => lane.set(i32.load(entry.get, at * additionBytes + 4 * field))),
  )
  const codes = ([first, second]: [Local, Local]): Two => [first.get, second.get]
  return [
    entry.set(list),
    control.forever([
      control.leaveIf(1, i32.geU(index.get, count)),
      loads,
      step({ a: codes(a), b: codes(b), out: codes(out) }, index.get),
      increase(entry, additionLanes * additionBytes),
      increase(index, 1),
    ]),
  ]
}

type Two = readonly [Code, Code]

const xOf = ([first, second]: Two): Two => [i32.and(first, i32.const(-2)), i32.and(second, i32.const(-2))]

/** Behind x, and one further for a negative point. */
const yOf = (shape: CoordinateShape, [first, second]: Two): Two => {
  const y = (point: Code) =>
    i32.add(
      i32.and(point, i32.const(-2)),
      i32.mul(i32.add(i32.and(point, i32.const(1)), i32.const(1)), i32.const(coordinateBytes(shape))),
    )
  return [y(first), y(second)]
}

function defineDifferences(
  module: ModuleBuilder,
  shape: CoordinateShape,
  { difference }: CoordinateFunctions,
) {
  module.define({
    params: ['i32', 'i32', 'i32'],
    exportAs: 'differences',
    body(scope) {
      const [list, count, tree] = [scope.param(0).get, scope.param(1).get, scope.param(2).get]
      return eachTwo(scope, { list, count }, ({ a, b }, index) =>
        control.call(difference, node(shape, tree, i32.add(count, index)), ...xOf(a), ...xOf(b)),
      )
    },
  })
}

function defineProducts(module: ModuleBuilder, shape: CoordinateShape, { multiply }: CoordinateFunctions) {
  module.define({
    params: ['i32', 'i32'],
    exportAs: 'products',
    body(scope) {
      const [count, tree] = [scope.param(0).get, scope.param(1).get]
      const index = scope.local('i32')
      const child = (which: number) => i32.add(i32.shl(index.get, i32.const(1)), i32.const(which))
      return [
        index.set(count),
        control.forever([
          increase(index, -1),
          control.leaveIf(1, i32.eqz(index.get)),
          control.call(
            multiply,
            node(shape, tree, index.get),
            node(shape, tree, child(0)),
            node(shape, tree, child(1)),
          ),
        ]),
      ]
    },
  })
}

function defineInverses(
  module: ModuleBuilder,
  shape: CoordinateShape,
  { multiply }: CoordinateFunctions,
  scratch: number,
) {
  module.define({
    params: ['i32', 'i32'],
    exportAs: 'inverses',
    body(scope) {
      const [count, tree] = [scope.param(0).get, scope.param(1).get]
      const index = scope.local('i32')
      const child = (which: number) =>
        node(shape, tree, i32.add(i32.shl(index.get, i32.const(1)), i32.const(which)))
      const own = node(shape, tree, index.get)
      return [
        index.set(i32.const(1)),
        control.forever([
          control.leaveIf(1, i32.geU(index.get, count)),
          // The left child's inverse goes to scratch memory, because the right child's inverse needs the left child.
          control.call(multiply, i32.const(scratch), own, child(1)),
          control.call(multiply, child(1), own, child(0)),
          copy(child(0), i32.const(scratch), coordinatePairBytes(shape)),
          increase(index, 1),
        ]),
      ]
    },
  })
}

const copy = (to: Code, from: Code, bytes: number): Code =>
  Array.from({ length: bytes / 4 }, (_, word) => i32.store(to, i32.load(from, 4 * word), 4 * word))

function defineSums(
  module: ModuleBuilder,
  shape: CoordinateShape,
  { multiply, square, difference, lessOne, lessBoth }: CoordinateFunctions,
  scratch: number,
) {
  const pairBytes = coordinatePairBytes(shape)
  const slot = (index: number) => i32.const(scratch + index * pairBytes)
  const [slope, product, distance] = [slot(0), slot(1), slot(2)]
  module.define({
    params: ['i32', 'i32', 'i32'],
    exportAs: 'sums',
    body(scope) {
      const [list, count, tree] = [scope.param(0).get, scope.param(1).get, scope.param(2).get]
      return eachTwo(scope, { list, count }, ({ a, b, out }, index) => [
        control.call(difference, distance, ...yOf(shape, a), ...yOf(shape, b)),
        control.call(multiply, slope, distance, node(shape, tree, i32.add(count, index))),
        control.call(square, product, slope),
        control.call(lessBoth, ...out, product, ...xOf(a), ...xOf(b)),
        control.call(difference, distance, ...out, ...xOf(a)),
        control.call(multiply, product, slope, distance),
        control.call(lessOne, ...yOf(shape, out), product, ...yOf(shape, a)),
      ])
    },
  })
}
