import {
  baseBytes,
  type Complex,
  type Curve,
  createMultiScalar,
  createPointMemory,
  createQuotient,
  g1,
  g2,
  keyPointBytes,
  type Point,
  scalarPrime,
} from '@svc-zerc20/kernel'
import type { ProvingKey } from './proving-key.js'

/** Makes proofs with one key. */
export type Groth16 = {
  /**
   * `witness` has all wires, 32 little-endian bytes each. `blinding` hides the witness: two random scalars, new for
   * each proof. `pause` is awaited between the steps, so that the event loop can run; an error it throws ends the proof.
   */
  prove(
    witness: Uint8Array,
    blinding: readonly [bigint, bigint],
    pause: () => Promise<void>,
  ): Promise<readonly bigint[]>
}

const wordsPerScalar = 8

const wordsOf = (value: bigint): number[] =>
  Array.from({ length: wordsPerScalar }, (_, word) => Number((value >> BigInt(32 * word)) & 0xffff_ffffn))

/** Points of a multiplication, without those at infinity. */
type Query = {
  /** Addresses of the points. */
  readonly bases: Int32Array
  /** Index of the scalar that belongs to each point. */
  readonly scalars: Int32Array
}

function createLoader<Value>(curve: Curve<Value>) {
  const memory = createPointMemory(curve)
  const size = keyPointBytes(curve.shape)
  return {
    memory,
    /** Point i goes with scalar `first + i`. */
    query(points: Uint8Array, first = 0): Query {
      const address = memory.importPoints(points)
      const present = Array.from({ length: points.length / size }, (_, index) => index).filter((index) =>
        points.subarray(index * size, (index + 1) * size).some((byte) => byte !== 0),
      )
      return {
        bases: Int32Array.from(present, (index) => address + index * baseBytes(curve.shape)),
        scalars: Int32Array.from(present, (index) => first + index),
      }
    },
  }
}

const joined = (...queries: readonly Query[]): Query => ({
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

export function createGroth16(key: ProvingKey): Groth16 {
  const { wires, domain, publicSignals } = key
  const quotient = createQuotient(key)
  // Order of the scalars: the wires, one, the two blinding scalars, their product, the quotient.
  const [one, first, second, product, quotientStart] = [wires, wires + 1, wires + 2, wires + 3, wires + 4]
  const inG1 = createLoader(g1)
  const inG2 = createLoader(g2)
  const { query } = inG1
  const left = joined(query(key.g1.left), query(key.g1.alpha, one), query(key.g1.delta, first))
  const right = joined(query(key.g1.right), query(key.g1.beta, one), query(key.g1.delta, second))
  const right2 = joined(
    inG2.query(key.g2.right),
    inG2.query(key.g2.beta, one),
    inG2.query(key.g2.delta, second),
  )
  const output = joined(
    query(key.g1.output, publicSignals + 1),
    query(key.g1.quotient, quotientStart),
    query(key.g1.delta, product),
  )
  const g1Sums = createMultiScalar(g1, inG1.memory)
  const g2Sums = createMultiScalar(g2, inG2.memory)

  function scalarsOf(witness: Uint8Array, [r, s]: readonly [bigint, bigint]): Uint32Array {
    const scalars = new Uint32Array((quotientStart + domain) * wordsPerScalar)
    new Uint8Array(scalars.buffer).set(witness)
    const minusProduct = (scalarPrime - ((r * s) % scalarPrime)) % scalarPrime
    scalars.set([1n, r, s, minusProduct].flatMap(wordsOf), one * wordsPerScalar)
    return scalars
  }

  return {
    async prove(witness, [r, s], pause) {
      const scalars = scalarsOf(witness, [r, s])
      scalars.set(quotient.evaluate(witness), quotientStart * wordsPerScalar)
      const sum = async (which: Query) => {
        await pause()
        return g1Sums.multiply(which.bases, pick(scalars, which))
      }
      const [a, b] = [await sum(left), await sum(right)]
      const rest = await sum(output)
      await pause()
      const b2 = g2Sums.multiply(right2.bases, pick(scalars, right2))
      await pause()
      const { add, multiply } = g1.group
      const c = add(add(rest, multiply(a, s)), multiply(b, r))
      return evmWords(a, b2, c)
    },
  }
}

/** A.x, A.y, B.x.c1, B.x.c0, B.y.c1, B.y.c0, C.x, C.y; the EVM takes infinity as zeros. */
function evmWords(a: Point<bigint>, b: Point<Complex>, c: Point<bigint>): readonly bigint[] {
  const inG1 = (point: Point<bigint>) => (point ? [point.x, point.y] : [0n, 0n])
  const inG2 = b ? [b.x.im, b.x.re, b.y.im, b.y.re] : [0n, 0n, 0n, 0n]
  return [...inG1(a), ...inG2, ...inG1(c)]
}
