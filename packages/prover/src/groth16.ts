import { type Complex, createQuotient, g1, type Point, scalarPrime } from '@svc-zerc20/kernel'
import { joined, type KeySums, wordsPerScalar } from './key-sums.js'
import type { ProvingKey } from './proving-key.js'
import type { WitnessThread } from './witness-sums.js'

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

const wordsOf = (value: bigint): number[] =>
  Array.from({ length: wordsPerScalar }, (_, word) => Number((value >> BigInt(32 * word)) & 0xffff_ffffn))

/** All keys of a process share one memory for their points, and one thread. */
export async function createGroth16(
  key: ProvingKey,
  { query, sum, thread }: KeySums<bigint> & { readonly thread: WitnessThread },
): Promise<Groth16> {
  const { wires, domain, publicSignals } = key
  const loading = thread.load(key)
  const quotient = createQuotient(key)
  // Order of the scalars: the wires, one, the two blinding scalars, their product, the quotient.
  const [one, product, quotientStart] = [wires, wires + 3, wires + 4]
  const output = joined(
    query(key.g1.output, publicSignals + 1),
    query(key.g1.quotient, quotientStart),
    query(key.g1.delta, product),
  )
  const sumByWitness = await loading

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
      // A cancelled proof leaves this half to its end: the thread does not look up between its sums.
      const summing = sumByWitness(scalars.slice(0, product * wordsPerScalar))
      scalars.set(quotient.evaluate(witness), quotientStart * wordsPerScalar)
      await pause()
      const rest = sum(output, scalars)
      await pause()
      const { left, right, right2 } = await summing
      await pause()
      const { add, multiply } = g1.group
      const c = add(add(rest, multiply(left, s)), multiply(right, r))
      return evmWords(left, right2, c)
    },
  }
}

/** A.x, A.y, B.x.c1, B.x.c0, B.y.c1, B.y.c0, C.x, C.y; the EVM takes infinity as zeros. */
function evmWords(a: Point<bigint>, b: Point<Complex>, c: Point<bigint>): readonly bigint[] {
  const inG1 = (point: Point<bigint>) => (point ? [point.x, point.y] : [0n, 0n])
  const inG2 = b ? [b.x.im, b.x.re, b.y.im, b.y.re] : [0n, 0n, 0n, 0n]
  return [...inG1(a), ...inG2, ...inG1(c)]
}
