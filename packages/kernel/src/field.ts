import assert from 'node:assert/strict'

/** Bits of a limb. Sums of 63 products of two limbs still fit 64 bits, so columns are added up without carries. */
export const limbBits = 29
/** Limbs of an element: 261 bits, seven more than the primes have, so sums need no reduction. */
export const limbCount = 9
/** Bytes of an element in memory: each limb a little-endian 32-bit word. */
export const elementBytes = 4 * limbCount

/** Order of the BN254 scalar field. */
export const scalarPrime = 21888242871839275222246405745257275088548364400416034343698204186575808495617n
/** Order of the field that BN254's curve coordinates live in. */
export const basePrime = 21888242871839275222246405745257275088696311157297823662689037894645226208583n

const limbMask = (1n << BigInt(limbBits)) - 1n
const radix = 1n << BigInt(limbBits * limbCount)

/** A prime field of at most 254 bits, as the generated code represents it: Montgomery form in 29-bit limbs. */
export type Field = {
  readonly prime: bigint
  readonly primeLimbs: readonly number[]
  /** −1/prime modulo 2^29. */
  readonly negativeInverse: number
  /** Montgomery form of a value: the value times 2^261, reduced. */
  enter(value: bigint): bigint
  /** The value, below the prime, of a Montgomery form that need not be reduced. */
  leave(form: bigint): bigint
  inverse(value: bigint): bigint
}

/** A number below 2^261 as limbs, lowest first. */
export function limbsOf(value: bigint): number[] {
  assert(value >= 0n && value < radix, 'a number of at most 261 bits is needed')
  return Array.from({ length: limbCount }, (_, at) => Number((value >> BigInt(at * limbBits)) & limbMask))
}

/** The number that limbs stand for. */
export function numberOf(limbs: ArrayLike<number>): bigint {
  let value = 0n
  for (let at = limbCount - 1; at >= 0; at--) value = (value << BigInt(limbBits)) | BigInt(limbs[at] ?? 0)
  return value
}

/** `base` to the power of `exponent` modulo `prime`. */
export function power(base: bigint, exponent: bigint, prime: bigint): bigint {
  let result = 1n
  let square = base % prime
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % prime
    square = (square * square) % prime
  }
  return result
}

/** Inverse of an odd number modulo 2^29, by Newton's doubling of correct bits. */
function inverseOfLowLimb(odd: bigint): bigint {
  let inverse = 1n
  for (let correctBits = 1; correctBits < limbBits; correctBits *= 2) {
    inverse = (inverse * (2n - odd * inverse)) & limbMask
  }
  return inverse & limbMask
}

/** Inverse modulo a prime, by Euclid's algorithm. */
export function inverseModulo(value: bigint, prime: bigint): bigint {
  let [rest, next] = [prime, ((value % prime) + prime) % prime]
  assert(next !== 0n, 'zero has no inverse')
  let [factor, nextFactor] = [0n, 1n]
  while (next !== 0n) {
    const quotient = rest / next
    ;[rest, next] = [next, rest - quotient * next]
    ;[factor, nextFactor] = [nextFactor, factor - quotient * nextFactor]
  }
  return factor < 0n ? factor + prime : factor
}

export function createField(prime: bigint): Field {
  assert(prime & 1n && prime < 1n << 254n, 'an odd prime of at most 254 bits is needed')
  const inverse = (value: bigint) => inverseModulo(value, prime)
  const radixInverse = inverse(radix)
  return {
    prime,
    primeLimbs: limbsOf(prime),
    negativeInverse: Number(-inverseOfLowLimb(prime & limbMask) & limbMask),
    enter: (value) => (value * radix) % prime,
    leave: (form) => (form * radixInverse) % prime,
    inverse,
  }
}
