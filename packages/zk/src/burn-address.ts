import assert from 'node:assert/strict'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils'
import { keccak256 } from '@svc-zerc20/kernel'
import { addressBits, burnHash, checkPow, type PowPuzzle, secretAt } from './burn-hash.js'
import type { Generation } from './generation.js'
import { bigEndian, bytesOf, type Hex, hexOf, integerOf } from './hex.js'
import { fieldPrime } from './poseidon.js'
import { chainIdBytes, recipientHash, recipientWord } from './recipient-hash.js'

/** A search with more bits takes days, so a larger setting is treated as a mistake. */
const powBitsMax = 32

/** The inputs that determine a burn address, apart from the proof of work. */
export type BurnTerms = {
  readonly generation: Generation
  readonly powBits: number
  readonly chainId: number
  /** Recipient of the mint. It cannot be changed once the burn address exists. */
  readonly treasury: Hex
  /** 32 bytes, see `deriveSeed`. */
  readonly seed: Uint8Array
  /** 32 random bytes. */
  readonly challengeNonce: Hex
  /**
   * The epoch of an address that is minted in a batch. Addresses of one epoch share the tweak, and so the recipient hash.
   * Absent for an address with its own tweak.
   */
  readonly epoch?: LedgerEpoch | undefined
}

/**
 * An epoch of one ledger. The verifier mints the largest count of a recipient hash, so two ledgers that shared one would
 * lose the smaller sum: each has its own epochs.
 */
export type LedgerEpoch = {
  /** The id of the ledger, 16 bytes as hex without 0x. */
  readonly ledger: string
  /** The unix second at which the epoch began. */
  readonly start: number
}

/** The proof-of-work puzzle, and the tweak that the burn's mint must reveal. Both can be derived again from the terms. */
export type BurnDerivation = PowPuzzle & { readonly tweak: Hex }

/**
 * Derives secret and tweak of one challenge, as zERC20's payment-advice kind, whose id is 32 unstructured bytes like a
 * challenge nonce. The invoice kind would put a batch flag and the chain id into the id, so the nonce would not be
 * fully random, and every payer could recognize its origin.
 */
export function deriveBurn(terms: BurnTerms): BurnDerivation {
  const { generation, powBits, chainId, treasury, seed, challengeNonce } = terms
  assert(Number.isInteger(powBits) && powBits >= 0 && powBits <= powBitsMax, 'powBits out of range')
  assert(seed.length === 32, 'expected a seed of 32 bytes')
  const id = bytesOf(challengeNonce, 32)
  const digest = (domain: 'psec' | 'ptwk') => keccak256(concatBytes(utf8ToBytes(domain), seed, id))
  const tweak = terms.epoch === undefined ? hexOf(digest('ptwk')) : epochTweak(terms, terms.epoch)
  return {
    generation,
    powBits,
    tweak,
    recipientHash: recipientHash({ chainId, recipient: recipientWord(treasury), tweak }),
    baseSecret: integerOf(digest('psec')) % fieldPrime,
  }
}

/**
 * The tweak of all addresses of an epoch. Mints publish it, so it must not be the same for two treasuries or two chains:
 * equal tweaks would show that one facilitator serves both.
 */
function epochTweak({ seed, chainId, treasury, generation }: BurnTerms, { ledger, start }: LedgerEpoch): Hex {
  assert(Number.isSafeInteger(start) && start >= 0, 'expected an epoch as unix seconds')
  const recipient = concatBytes(chainIdBytes(chainId), bytesOf(treasury, 20))
  const own = bytesOf(`0x${ledger}`, 16)
  const place = concatBytes(bigEndian(BigInt(generation), 1), own, bigEndian(BigInt(start), 8))
  return hexOf(keccak256(concatBytes(utf8ToBytes('svc-zerc20/epoch-tweak/1'), seed, recipient, place)))
}

const addressMask = (1n << BigInt(addressBits)) - 1n

/** The address in the low bits of a burn hash, in lower case. */
export const addressOf = (hash: bigint): Hex => hexOf(bigEndian(hash & addressMask, 20))

/**
 * The burn address at a powNonce, or undefined if it fails the proof of work: such a burn could never be minted, so that
 * the address must never be offered.
 */
export function burnAddressAt(puzzle: PowPuzzle, powNonce: number): Hex | undefined {
  if (!Number.isSafeInteger(powNonce) || powNonce < 0) return undefined
  const hash = burnHash(puzzle.generation, puzzle.recipientHash, secretAt(puzzle, powNonce))
  return checkPow(hash, puzzle.powBits) ? addressOf(hash) : undefined
}
