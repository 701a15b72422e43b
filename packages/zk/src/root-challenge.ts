import { concatBytes } from '@noble/hashes/utils'
import { keccak256 } from '@svc-zerc20/kernel'
import type { Transfer } from './hash-chain.js'
import { bigEndian, integerOf } from './hex.js'
import { fieldPrime } from './poseidon.js'

/** The tree's root and the token's hash chain before and after some transfers. */
export type RootTransition = {
  readonly oldIndex: number
  readonly oldChain: bigint
  readonly oldRoot: bigint
  readonly newIndex: number
  readonly newChain: bigint
  readonly newRoot: bigint
}

/**
 * The point at which contract and circuit compare the transfers as polynomials. The point depends on both commitments
 * to the transfers, the hash chain and the new root, so nobody can choose different transfers that agree at it.
 */
export function rootChallenge(transition: RootTransition): bigint {
  const { oldIndex, oldChain, oldRoot, newIndex, newChain, newRoot } = transition
  const words = [BigInt(oldIndex), oldChain, oldRoot, BigInt(newIndex), newChain, newRoot]
  return integerOf(keccak256(concatBytes(...words.map((word) => bigEndian(word, 32))))) % fieldPrime
}

/** The value at `z` of the polynomial whose coefficients are the transfers: from, to, value of each, highest first. */
export function evaluateTransfers(z: bigint, transfers: readonly Transfer[]): bigint {
  return transfers
    .flatMap(({ from, to, value }) => [BigInt(from), BigInt(to), value])
    .reduce((sum, coefficient) => (sum * z + coefficient) % fieldPrime, 0n)
}
