import { concatBytes } from '@noble/hashes/utils'
import { keccak256 } from '@svc-zerc20/kernel'
import { bytesOf, type Hex, hexOf } from '../hex.js'

/** A point of the first group: x and y as words. */
export type G1 = readonly [Hex, Hex]

/** A point of the second group: x and y, each with its imaginary part first, as the EVM expects. */
export type G2 = readonly [Hex, Hex, Hex, Hex]

/** The verification key of a Groth16 circuit. Words are 32 bytes of 0x hex. */
export type VerificationKey = {
  readonly alpha: G1
  readonly beta: G2
  readonly gamma: G2
  readonly delta: G2
  /** One point for the constant, then one for each public signal. */
  readonly ic: readonly G1[]
}

/** keccak256 over all words in the order of the type. The verifier contract hashes its own key in the same way. */
export function verificationKeyHash({ alpha, beta, gamma, delta, ic }: VerificationKey): Hex {
  const words = [alpha, beta, gamma, delta, ...ic].flat()
  return hexOf(keccak256(concatBytes(...words.map((word) => bytesOf(word, 32)))))
}

/**
 * Whether anybody can forge proofs under this key. A key without contributions has delta equal to gamma, and then two
 * points of any proof cancel out. The same happens when delta is the opposite of gamma. Equal and opposite points are
 * exactly those with the same x. The verifier contract refuses the same keys.
 */
export function isForgeable({ gamma, delta }: VerificationKey): boolean {
  return BigInt(gamma[0]) === BigInt(delta[0]) && BigInt(gamma[1]) === BigInt(delta[1])
}
