import type { Numbers } from './numbers.js'

/** A point, or nothing for the point at infinity. */
export type Point<Value> = { readonly x: Value; readonly y: Value } | undefined

/** A curve y² = x³ + b over JavaScript numbers. None of it depends on b. */
export type Group<Value> = {
  readonly numbers: Numbers<Value>
  add(a: Point<Value>, b: Point<Value>): Point<Value>
  negate(a: Point<Value>): Point<Value>
  multiply(a: Point<Value>, scalar: bigint): Point<Value>
  /** Σ 2^i · pointᵢ */
  addPowers(points: readonly Point<Value>[]): Point<Value>
}

/** X/Z² and Y/Z³: sums without divisions. */
type Jacobian<Value> = { readonly x: Value; readonly y: Value; readonly z: Value }

export function createGroup<Value>(numbers: Numbers<Value>): Group<Value> {
  const { add, subtract, multiply, inverse, isZero, zero, one } = numbers
  const square = (a: Value) => multiply(a, a)
  const twice = (a: Value) => add(a, a)
  const infinity: Jacobian<Value> = { x: one, y: one, z: zero }

  function double({ x, y, z }: Jacobian<Value>): Jacobian<Value> {
    if (isZero(z)) return infinity
    const ySquare = square(y)
    const s = twice(twice(multiply(x, ySquare)))
    const slope = multiply(add(twice(one), one), square(x))
    const nextX = subtract(square(slope), twice(s))
    const yFourthTimes8 = twice(twice(twice(square(ySquare))))
    return {
      x: nextX,
      y: subtract(multiply(slope, subtract(s, nextX)), yFourthTimes8),
      z: twice(multiply(y, z)),
    }
  }

  /** Adds a point that has no denominator. */
  function addPoint(a: Jacobian<Value>, b: Point<Value>): Jacobian<Value> {
    if (b === undefined) return a
    if (isZero(a.z)) return { ...b, z: one }
    const zSquare = square(a.z)
    const width = subtract(multiply(b.x, zSquare), a.x)
    const height = subtract(multiply(b.y, multiply(zSquare, a.z)), a.y)
    if (isZero(width)) return isZero(height) ? double(a) : infinity
    const widthSquare = square(width)
    const widthCube = multiply(widthSquare, width)
    const base = multiply(a.x, widthSquare)
    const x = subtract(subtract(square(height), widthCube), twice(base))
    return {
      x,
      y: subtract(multiply(height, subtract(base, x)), multiply(a.y, widthCube)),
      z: multiply(a.z, width),
    }
  }

  function affine({ x, y, z }: Jacobian<Value>): Point<Value> {
    if (isZero(z)) return undefined
    const scale = inverse(z)
    const scaleSquare = square(scale)
    return { x: multiply(x, scaleSquare), y: multiply(y, multiply(scaleSquare, scale)) }
  }

  const lift = (a: Point<Value>): Jacobian<Value> => (a === undefined ? infinity : { ...a, z: one })

  return {
    numbers,
    add: (a, b) => affine(addPoint(lift(a), b)),
    negate: (a) => a && { x: a.x, y: subtract(zero, a.y) },
    multiply(a, scalar) {
      let sum = infinity
      for (const bit of scalar.toString(2)) {
        sum = double(sum)
        if (bit === '1') sum = addPoint(sum, a)
      }
      return affine(sum)
    },
    addPowers(points) {
      const sum = points.reduceRight<Jacobian<Value>>(
        (rest, point) => addPoint(double(rest), point),
        infinity,
      )
      return affine(sum)
    },
  }
}
