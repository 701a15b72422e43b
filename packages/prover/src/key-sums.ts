/** Sums over points of a proving key, each multiplied by a scalar of the proof. */
import {
  baseBytes,
  type Curve,
  createMultiScalar,
  createPointMemory,
  keyPointBytes,
  type Point,
} from '@svc-zerc20/kernel'

export const wordsPerScalar = 8

/** Points of a sum, without those at infinity. */
export type Query = {
  /** Addresses of the points. */
  readonly bases: Int32Array
  /** Index of the scalar that belongs to each point. */
  readonly scalars: Int32Array
}

export type KeySums<Value> = {
  /** Loads points. Point i goes with scalar `first + i`. */
  query(points: Uint8Array, first?: number): Query
  /** `scalars` has those of all points, eight little-endian 32-bit words each, reduced. */
  sum(which: Query, scalars: Uint32Array): Point<Value>
}

export function createKeySums<Value>(curve: Curve<Value>): KeySums<Value> {
  const memory = createPointMemory(curve)
  const sums = createMultiScalar(curve, memory)
  const size = keyPointBytes(curve.shape)
  return {
    query(points, first = 0) {
      const address = memory.importPoints(points)
      const present = Array.from({ length: points.length / size }, (_, index) => index).filter((index) =>
        points.subarray(index * size, (index + 1) * size).some((byte) => byte !== 0),
      )
      return {
        bases: Int32Array.from(present, (index) => address + index * baseBytes(curve.shape)),
        scalars: Int32Array.from(present, (index) => first + index),
      }
    },
    sum: (which, scalars) => sums.multiply(which.bases, pick(scalars, which)),
  }
}

export const joined = (...queries: readonly Query[]): Query => ({
  bases: Int32Array.from(queries.flatMap(({ bases }) => [...bases])),
  scalars: Int32Array.from(queries.flatMap(({ scalars }) => [...scalars])),
})

/** The scalars that belong to a query. */
function pick(all: Uint32Array, { scalars }: Query): Uint32Array {
  const picked = new Uint32Array(scalars.length * wordsPerScalar)
  scalars.forEach((scalar, index) => {
    const from = scalar * wordsPerScalar
    picked.set(all.subarray(from, from + wordsPerScalar), index * wordsPerScalar)
  })
  return picked
}
