import { keccak_256 } from '@noble/hashes/sha3'
import { concatBytes } from '@noble/hashes/utils'
import { bytesOf, type Hex, hexOf } from '../hex.js'

/** A point of the first group: x and y as words. */
export type G1 = readonly [Hex, Hex]

/** A point of the second group: x and y, each with its imaginary limb first, as the EVM takes them. */
export type G2 = readonly [Hex, Hex, Hex, Hex]

/** What a Groth16 verifier must know of a circuit. Words are 32 bytes of 0x hex. */
export type VerificationKey = {
  readonly alpha: G1
  readonly beta: G2
  readonly gamma: G2
  readonly delta: G2
  /** One point for the constant, then one for each public signal. */
  readonly ic: readonly G1[]
}

/** keccak256 over all words in the order of the type. The verifier contract computes the same of its own key. */
export function verificationKeyHash({ alpha, beta, gamma, delta, ic }: VerificationKey): Hex {
  const words = [alpha, beta, gamma, delta, ...ic].flat()
  return hexOf(keccak_256(concatBytes(...words.map((word) => bytesOf(word, 32)))))
}

/**
 * Whether proofs under this key can be forged by anybody. A key that nobody contributed to has delta equal to gamma,
 * and then two points of any proof cancel out; so they do when delta is the opposite of gamma. Points with the same x
 * are equal or opposite, and the verifier contract refuses the same keys.
 */
export function isForgeable({ gamma, delta }: VerificationKey): boolean {
  return BigInt(gamma[0]) === BigInt(delta[0]) && BigInt(gamma[1]) === BigInt(delta[1])
}
