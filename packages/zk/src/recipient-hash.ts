import assert from 'node:assert/strict'
import { sha256 } from '@noble/hashes/sha2'
import { concatBytes } from '@noble/hashes/utils'
import { bigEndian, bytesOf, type Hex, hexOf, integerOf } from './hex.js'

/** The recipient of a mint, in the form that the verifier contract takes. */
export type GeneralRecipient = {
  readonly chainId: number
  /** 32 bytes: an address, left-padded. */
  readonly recipient: Hex
  /** 32 bytes. */
  readonly tweak: Hex
}

const layoutVersion = 1

/** An address as the 32-byte recipient word. */
export function recipientWord(address: Hex): Hex {
  return hexOf(bigEndian(integerOf(bytesOf(address, 20)), 32))
}

/** The chain id as eight bytes, as in hashes and encodings. */
export function chainIdBytes(chainId: number): Uint8Array {
  assert(Number.isSafeInteger(chainId) && chainId > 0, 'expected a positive integer chain id')
  return bigEndian(BigInt(chainId), 8)
}

/** The commitment to (chain, recipient, tweak) that a burn address hides and a mint proof opens. */
export function recipientHash({ chainId, recipient, tweak }: GeneralRecipient): bigint {
  const digest = sha256(concatBytes(chainIdBytes(chainId), bytesOf(recipient, 32), bytesOf(tweak, 32)))
  digest[0] = layoutVersion // also keeps the value below the field prime
  return integerOf(digest)
}
