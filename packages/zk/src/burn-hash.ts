import type { Generation } from './generation.js'
import { fieldPrime, hash2, hash3 } from './poseidon.js'

/** Bits of an address: the low bits of its burn hash. */
export const addressBits = 160
/** ASCII "burn", read little-endian; generation 2 separates burn hashes from leaf hashes with it. */
export const burnDomain = 0x6e727562n

/** The inputs of a search for a powNonce. */
export type PowPuzzle = {
  readonly generation: Generation
  /** Bits above the lowest 160 that must be zero. */
  readonly powBits: number
  readonly recipientHash: bigint
  /** Field element. The secret of the mint proof is this plus the powNonce. */
  readonly baseSecret: bigint
}

/** The secret at one powNonce. */
export function secretAt(puzzle: PowPuzzle, powNonce: number): bigint {
  return (puzzle.baseSecret + BigInt(powNonce)) % fieldPrime
}

/** The hash whose low 160 bits are the burn address. */
export function burnHash(generation: Generation, recipientHash: bigint, secret: bigint): bigint {
  return generation === 1 ? hash2(recipientHash, secret) : hash3(burnDomain, recipientHash, secret)
}

/** Whether the `powBits` bits just above the address are zero. The mint circuit demands the same. */
export function checkPow(hash: bigint, powBits: number): boolean {
  return ((hash >> BigInt(addressBits)) & ((1n << BigInt(powBits)) - 1n)) === 0n
}
