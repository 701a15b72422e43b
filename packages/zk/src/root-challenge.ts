import { keccak_256 } from '@noble/hashes/sha3'
import { concatBytes } from '@noble/hashes/utils'
import type { Transfer } from './hash-chain.js'
import { bigEndian, integerOf } from './hex.js'
import { fieldPrime } from './poseidon.js'

/** A step of the tree and of the token's hash chain, before and after. */
export type RootTransition = {
  readonly oldIndex: number
  readonly oldChain: bigint
  readonly oldRoot: bigint
  readonly newIndex: number
  readonly newChain: bigint
  readonly newRoot: bigint
}

/**
 * The point at which contract and circuit compare the transfers. It depends on both commitments to them, the chain and
 * the new root, so nobody can choose transfers that differ and yet agree there.
 */
export function rootChallenge(transition: RootTransition): bigint {
  const { oldIndex, oldChain, oldRoot, newIndex, newChain, newRoot } = transition
  const words = [BigInt(oldIndex), oldChain, oldRoot, BigInt(newIndex), newChain, newRoot]
  return integerOf(keccak_256(concatBytes(...words.map((word) => bigEndian(word, 32))))) % fieldPrime
}

/** The transfers as the coefficients of a polynomial (from, to, value of each, highest first), at `z`. */
export function evaluateTransfers(z: bigint, transfers: readonly Transfer[]): bigint {
  return transfers
    .flatMap(({ from, to, value }) => [BigInt(from), BigInt(to), value])
    .reduce((sum, coefficient) => (sum * z + coefficient) % fieldPrime, 0n)
}
