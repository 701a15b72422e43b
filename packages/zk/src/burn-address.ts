import assert from 'node:assert/strict'
import { keccak_256 } from '@noble/hashes/sha3'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils'
import { addressOf, burnHash, checkPow, type PowPuzzle, secretAt } from './burn-hash.js'
import type { Generation } from './generation.js'
import { bytesOf, type Hex, hexOf, integerOf } from './hex.js'
import { limits } from './limits.js'
import { fieldPrime } from './poseidon.js'
import { findPowNonce, type NonceRange, type PowKernel } from './pow-kernel.js'
import { recipientHash, recipientWord } from './recipient-hash.js'

/** What fixes a burn address, apart from the proof of work. */
export type BurnTerms = {
  readonly generation: Generation
  readonly powBits: number
  readonly chainId: number
  /** Address that the mint will go to; fixed for ever once the burn address exists. */
  readonly treasury: Hex
  /** 32 bytes, see `deriveSeed`. */
  readonly seed: Uint8Array
  /** 32 random bytes. */
  readonly challengeNonce: Hex
}

/** A puzzle to mine, with the tweak that a mint of its burn must reveal. Derives again from the terms. */
export type BurnDerivation = PowPuzzle & { readonly tweak: Hex }

/** A solved puzzle. */
export type MinedAddress = {
  readonly powNonce: number
  /** EIP-55 checksummed. */
  readonly payTo: Hex
}

export type SearchOutcome =
  | ({ readonly outcome: 'found' } & MinedAddress)
  | { readonly outcome: 'exhausted'; readonly nextNonce: number }

/**
 * Secret and tweak of one challenge, as zERC20's payment-advice kind. That kind takes 32 unstructured bytes as
 * its id, which is just what a challenge nonce is. The invoice kind would put a batch flag and the chain id
 * into the id, so a nonce would not be random throughout and every payer could read where it came from.
 */
export function deriveBurn(terms: BurnTerms): BurnDerivation {
  const { generation, powBits, chainId, treasury, seed, challengeNonce } = terms
  assert(Number.isInteger(powBits) && powBits >= 0 && powBits <= limits.powBitsMax, 'powBits out of range')
  assert(seed.length === 32, 'expected a seed of 32 bytes')
  const id = bytesOf(challengeNonce, 32)
  const digest = (domain: 'psec' | 'ptwk') => keccak_256(concatBytes(utf8ToBytes(domain), seed, id))
  const tweak = hexOf(digest('ptwk'))
  return {
    generation,
    powBits,
    tweak,
    recipientHash: recipientHash({ chainId, recipient: recipientWord(treasury), tweak }),
    baseSecret: integerOf(digest('psec')) % fieldPrime,
  }
}

/** The burn address at a proof-of-work nonce, or undefined if that nonce does not pass: it could not be minted. */
export function burnAddressAt(puzzle: PowPuzzle, powNonce: number): Hex | undefined {
  if (!Number.isSafeInteger(powNonce) || powNonce < 0) return undefined
  const hash = burnHash(puzzle.generation, puzzle.recipientHash, secretAt(puzzle, powNonce))
  return checkPow(hash, puzzle.powBits) ? addressOf(hash) : undefined
}

/** Looks through one range of nonces. Blocks its thread, so only workers and tests call it. */
export function search(
  puzzle: PowPuzzle,
  range: NonceRange,
  kernel: PowKernel = findPowNonce,
): SearchOutcome {
  const powNonce = kernel(puzzle, range)
  if (powNonce === undefined) return { outcome: 'exhausted', nextNonce: range.startNonce + range.maxTries }
  const payTo = burnAddressAt(puzzle, powNonce)
  assert(payTo !== undefined, 'the kernel returned a nonce that does not pass the proof of work')
  return { outcome: 'found', powNonce, payTo }
}

/**
 * Derives everything again and compares. Nobody may be asked to pay to an address that did not pass this: a
 * burn there would be lost.
 */
export function verifyBurnAddress(terms: BurnTerms, claimed: MinedAddress): boolean {
  return burnAddressAt(deriveBurn(terms), claimed.powNonce) === claimed.payTo
}
