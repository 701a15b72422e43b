import { elementBytes, type Field, limbCount } from '../field.js'
import { paddedMultiple, storeCarried } from '../field-functions.js'
import { pair } from '../lanes.js'
import { type Arithmetic, at, keep, loadElement, productColumns, reduce } from '../montgomery.js'
import { type Code, control, i32, v128 } from '../wasm/code.js'
import type { FunctionScope, Local, ModuleBuilder } from '../wasm/module.js'

const pairBytes = pair.count * elementBytes

/**
 * Number-theoretic transforms of two polynomials at once, their elements interleaved. Both multiply before they add,
 * so numbers grow by two primes a stage and need no reduction: from 2 to 2 + 2·stages, of 128 that a factor may reach.
 */
export type TransformFunctions = {
  /** (values, size, roots): natural order to bit-reversed; roots bit-reversed. */
  readonly transformDown: (values: number, size: number, roots: number) => void
  /** (values, size, roots): bit-reversed order to natural; roots in natural order. */
  readonly transformUp: (values: number, size: number, roots: number) => void
  /** (values, factors, size): each pair times its factor. */
  readonly scale: (values: number, factors: number, size: number) => void
}

export function defineTransformFunctions(module: ModuleBuilder, field: Field): void {
  const butterfly = defineButterfly(module, field)
  defineDown(module, butterfly)
  defineUp(module, butterfly)
  defineScale(module, field)
}

/** An element for both lanes. */
const broadcast = (arithmetic: Arithmetic, address: Code) =>
  keep(
    arithmetic,
    Array.from({ length: limbCount }, (_, limb) => v128.load32Splat(address, 4 * limb)),
  )

/** (u, v, root): u + root·v and u − root·v in their places. */
function defineButterfly(module: ModuleBuilder, field: Field): number {
  const two = paddedMultiple(field, 2)
  return module.define({
    params: ['i32', 'i32', 'i32'],
    body(scope: FunctionScope) {
      const arithmetic = { field, lanes: pair, scope }
      const [first, second] = [scope.param(0).get, scope.param(1).get]
      const v = loadElement(arithmetic, second)
      const root = broadcast(arithmetic, scope.param(2).get)
      const turned = two.map(() => scope.local(pair.type))
      const multiply = reduce(
        arithmetic,
        productColumns(arithmetic, [{ left: v.result, right: root.result }]),
        [],
        (limb, sum) => at(turned, limb).set(sum),
      )
      const u = loadElement(arithmetic, first)
      const wide = u.result.map((limb) => pair.widen(limb))
      const sums = wide.map((limb, index) => pair.add(limb, at(turned, index).get))
      const differences = wide.map((limb, index) =>
        pair.subtract(pair.add(limb, pair.widen(pair.constant(at(two, index)))), at(turned, index).get),
      )
      return [
        v.setup,
        root.setup,
        multiply,
        u.setup,
        storeCarried(arithmetic, first, sums),
        storeCarried(arithmetic, second, differences),
      ]
    },
  })
}

const plus = (local: Local, amount: Code): Code => local.set(i32.add(local.get, amount))
const pairs = (count: Code): Code => i32.mul(count, i32.const(pairBytes))

/** Runs the body once for every count from zero on. */
function count(counter: Local, to: Code, body: Code): Code {
  return [
    counter.set(i32.const(0)),
    control.forever([control.leaveIf(1, i32.geU(counter.get, to)), body, plus(counter, i32.const(1))]),
  ]
}

/** Halves the blocks until they have one element. All elements of a block are multiplied by the same root. */
function defineDown(module: ModuleBuilder, butterfly: number): void {
  module.define({
    params: ['i32', 'i32', 'i32'],
    exportAs: 'transformDown',
    body(scope) {
      const [values, size, roots] = [scope.param(0), scope.param(1), scope.param(2)]
      const [half, blocks, block, index, at, root] = locals(scope)
      const inBlock = [
        control.call(butterfly, at.get, i32.add(at.get, pairs(half.get)), root.get),
        plus(at, i32.const(pairBytes)),
      ]
      const inStage = [
        root.set(i32.add(roots.get, i32.mul(block.get, i32.const(elementBytes)))),
        count(index, half.get, inBlock),
        plus(at, pairs(half.get)),
      ]
      return [
        half.set(i32.shrU(size.get, i32.const(1))),
        blocks.set(i32.const(1)),
        control.forever([
          control.leaveIf(1, i32.eqz(half.get)),
          at.set(values.get),
          count(block, blocks.get, inStage),
          half.set(i32.shrU(half.get, i32.const(1))),
          blocks.set(i32.shl(blocks.get, i32.const(1))),
        ]),
      ]
    },
  })
}

/** Doubles the blocks until one is left. The root depends on the place in the block. */
function defineUp(module: ModuleBuilder, butterfly: number): void {
  module.define({
    params: ['i32', 'i32', 'i32'],
    exportAs: 'transformUp',
    body(scope) {
      const [values, size, roots] = [scope.param(0), scope.param(1), scope.param(2)]
      const [half, blocks, block, index, at, root] = locals(scope)
      const inBlock = [
        control.call(butterfly, at.get, i32.add(at.get, pairs(half.get)), root.get),
        plus(at, i32.const(pairBytes)),
        plus(root, i32.mul(blocks.get, i32.const(elementBytes))),
      ]
      const inStage = [root.set(roots.get), count(index, half.get, inBlock), plus(at, pairs(half.get))]
      return [
        half.set(i32.const(1)),
        blocks.set(i32.shrU(size.get, i32.const(1))),
        control.forever([
          control.leaveIf(1, i32.eqz(blocks.get)),
          at.set(values.get),
          count(block, blocks.get, inStage),
          half.set(i32.shl(half.get, i32.const(1))),
          blocks.set(i32.shrU(blocks.get, i32.const(1))),
        ]),
      ]
    },
  })
}

const locals = (scope: FunctionScope) => {
  const local = () => scope.local('i32')
  return [local(), local(), local(), local(), local(), local()] as const
}

function defineScale(module: ModuleBuilder, field: Field): void {
  const multiply = module.define({
    params: ['i32', 'i32'],
    body(scope) {
      const arithmetic = { field, lanes: pair, scope }
      const value = loadElement(arithmetic, scope.param(0).get)
      const factor = broadcast(arithmetic, scope.param(1).get)
      const columns = productColumns(arithmetic, [{ left: value.result, right: factor.result }])
      return [
        value.setup,
        factor.setup,
        reduce(arithmetic, columns, [], (limb, sum) =>
          pair.store(scope.param(0).get, limb, pair.narrow(sum)),
        ),
      ]
    },
  })
  module.define({
    params: ['i32', 'i32', 'i32'],
    exportAs: 'scale',
    body(scope) {
      const [values, factors, size] = [scope.param(0), scope.param(1), scope.param(2)]
      const index = scope.local('i32')
      return count(index, size.get, [
        control.call(multiply, values.get, factors.get),
        plus(values, i32.const(pairBytes)),
        plus(factors, i32.const(elementBytes)),
      ])
    },
  })
}
