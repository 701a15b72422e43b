import { inverseModulo } from '../field.js'

/** Coordinates as bigints: exact and slow, for rare cases, small inputs, and as a reference in tests. */
export type Numbers<Value> = {
  readonly zero: Value
  readonly one: Value
  add(a: Value, b: Value): Value
  subtract(a: Value, b: Value): Value
  multiply(a: Value, b: Value): Value
  /** Throws for zero. */
  inverse(a: Value): Value
  isZero(a: Value): boolean
  /** One number for each element of the base field, real part first. */
  parts(a: Value): readonly bigint[]
  of(parts: readonly bigint[]): Value
}

export function createPrimeNumbers(prime: bigint): Numbers<bigint> {
  return {
    zero: 0n,
    one: 1n,
    add: (a, b) => (a + b >= prime ? a + b - prime : a + b),
    subtract: (a, b) => (a < b ? a - b + prime : a - b),
    multiply: (a, b) => (a * b) % prime,
    inverse: (a) => inverseModulo(a, prime),
    isZero: (a) => a === 0n,
    parts: (a) => [a],
    of: ([a = 0n]) => a,
  }
}

export type Complex = { readonly re: bigint; readonly im: bigint }

/** The quadratic extension by i² = −1. */
export function createExtensionNumbers(prime: bigint): Numbers<Complex> {
  const base = createPrimeNumbers(prime)
  return {
    zero: { re: 0n, im: 0n },
    one: { re: 1n, im: 0n },
    add: (a, b) => ({ re: base.add(a.re, b.re), im: base.add(a.im, b.im) }),
    subtract: (a, b) => ({ re: base.subtract(a.re, b.re), im: base.subtract(a.im, b.im) }),
    multiply: (a, b) => ({
      re: (a.re * b.re + (prime - a.im) * b.im) % prime,
      im: (a.re * b.im + a.im * b.re) % prime,
    }),
    inverse(a) {
      const scale = base.inverse((a.re * a.re + a.im * a.im) % prime)
      return { re: (a.re * scale) % prime, im: ((prime - a.im) * scale) % prime }
    },
    isZero: (a) => a.re === 0n && a.im === 0n,
    parts: (a) => [a.re, a.im],
    of: ([re = 0n, im = 0n]) => ({ re, im }),
  }
}
