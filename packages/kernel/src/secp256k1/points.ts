/** Doubles and adds points of secp256k1 in Jacobian coordinates (x/z², y/z³), two at once. */
import { limbCount } from '../field.js'
import { pair } from '../lanes.js'
import { type Code, control, i32, v128 } from '../wasm/code.js'
import type { ModuleBuilder } from '../wasm/module.js'
import { behind, defineCoordinates, pairBytes } from './coordinates.js'

/** Pairs of a point: x, y and z. */
export const pointPairs = 3
/** Pairs of a point that is added: z² and z³ behind it. */
export const addendPairs = 5

/** Pairs that the functions need for themselves. */
export const scratchPairs = 9

export type PointFunctions = {
  readonly multiply: (result: number, a: number, b: number) => void
  readonly square: (result: number, a: number) => void
  /** (result, a): −a. */
  readonly 'linear-1': (result: number, a: number) => void
  /** (result, a, b): a + b. */
  readonly linear1_1: (result: number, a: number, b: number) => void
  /** (point): twice the point, in its place. */
  readonly double: (point: number) => void
  /**
   * (point, addend): their sum, in the point's place. Of two equal or opposite points it gets a z of zero, and keeps that
   * whatever is done with it later: the sum is then to be found in another way.
   */
  readonly add: (point: number, addend: number) => void
  /** As `add`, for an addend with a z of one. Only its x and y are read. */
  readonly addAffine: (point: number, addend: number) => void
  /** (result, first, second): the first lane of one pair beside the second lane of another. */
  readonly mix: (result: number, first: number, second: number) => void
}

export function definePoints(module: ModuleBuilder, scratch: number): void {
  const { multiply, square, linear } = defineCoordinates(module)
  const slot = (index: number): Code => i32.const(scratch + index * pairBytes)
  const mul = (result: Code, a: Code, b: Code) => control.call(multiply, result, a, b)
  const sqr = (result: Code, a: Code) => control.call(square, result, a)
  const [sum, difference, double, triple] = [[1, 1], [1, -1], [2], [3]].map(linear)
  linear([-1])
  const [lessBothTwice, lessTwice, lessEight, lessOneAndTwo] = [
    [2, -2, -2],
    [1, -2],
    [1, -8],
    [1, -1, -2],
  ].map(linear)
  const call = (func: number | undefined, ...args: Code[]) => control.call(func ?? 0, ...args)

  module.define({
    params: ['i32'],
    exportAs: 'double',
    body(scope) {
      const point = scope.param(0).get
      const [x, y, z] = [behind(point, 0), behind(point, 1), behind(point, 2)]
      const [a, b, c, d, e, f] = [slot(0), slot(1), slot(2), slot(3), slot(4), slot(5)]
      return [
        sqr(a, x),
        sqr(b, y),
        sqr(c, b),
        call(sum, d, x, b),
        sqr(d, d),
        call(lessBothTwice, d, d, a, c),
        call(triple, e, a),
        sqr(f, e),
        mul(z, y, z),
        call(double, z, z),
        call(lessTwice, x, f, d),
        call(difference, d, d, x),
        mul(y, e, d),
        call(lessEight, y, y, c),
      ]
    },
  })

  const define = (exportAs: string, isAffine: boolean) =>
    module.define({
      params: ['i32', 'i32'],
      exportAs,
      body(scope) {
        const [point, addend] = [scope.param(0).get, scope.param(1).get]
        const [x, y, z] = [behind(point, 0), behind(point, 1), behind(point, 2)]
        const other = [0, 1, 2, 3, 4].map((index) => behind(addend, index))
        const [otherX, otherY, otherZ, square2, cube2] = other as [Code, Code, Code, Code, Code]
        const [zz, h, r, hh, hhh, v] = [slot(0), slot(1), slot(2), slot(3), slot(4), slot(5)]
        return [
          sqr(zz, z),
          mul(h, otherX, zz),
          mul(r, otherY, z),
          mul(r, r, zz),
          // The point with the denominators of the addend.
          isAffine ? [] : [mul(x, x, square2), mul(y, y, cube2), mul(z, z, otherZ)],
          call(difference, h, h, x),
          call(difference, r, r, y),
          mul(z, z, h),
          sqr(hh, h),
          mul(hhh, h, hh),
          mul(v, x, hh),
          sqr(x, r),
          call(lessOneAndTwo, x, x, hhh, v),
          call(difference, v, v, x),
          mul(v, v, r),
          mul(hhh, hhh, y),
          call(difference, y, v, hhh),
        ]
      },
    })
  define('add', false)
  define('addAffine', true)

  module.define({
    params: ['i32', 'i32', 'i32'],
    exportAs: 'mix',
    body: ({ param }) =>
      Array.from({ length: limbCount }, (_, limb) => {
        const first = v128.load32Zero(param(1).get, pair.limbBytes * limb)
        const both = v128.load32Lane(param(2).get, first, pair.limbBytes * limb + 4, 1)
        return pair.store(param(0).get, limb, both)
      }),
  })
}
