import { type Address, toChecksum } from '@svc-zerc20/protocol'
import type { Generation } from './generation.js'
import { bigEndian, type Hex, hexOf } from './hex.js'
import { fieldPrime, hash2, hash3 } from './poseidon.js'

/** Bits of an address, and so of the hash it is the low end of. */
export const addressBits = 160
const addressMask = (1n << BigInt(addressBits)) - 1n
/** ASCII "burn", read little-endian; generation 2 separates burn hashes from leaf hashes with it. */
export const burnDomain = 0x6e727562n

/** Everything a search for a valid proof-of-work nonce needs to know, and nothing more. */
export type PowPuzzle = {
  readonly generation: Generation
  /** Bits above the lowest 160 that must be zero. */
  readonly powBits: number
  readonly recipientHash: bigint
  /** Field element; the secret that a mint proof needs is this plus the proof-of-work nonce. */
  readonly baseSecret: bigint
}

/** The secret that belongs to one proof-of-work nonce. */
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

/** The address a burn hash stands for, EIP-55 checksummed. */
export function addressOf(hash: bigint): Hex {
  return toChecksum(hexOf(bigEndian(hash & addressMask, 20)) as Address)
}
