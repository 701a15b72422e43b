import assert from 'node:assert/strict'
import { hkdf } from '@noble/hashes/hkdf'
import { sha256 } from '@noble/hashes/sha2'
import { utf8ToBytes } from '@noble/hashes/utils'

const seedDomain = 'svc-zerc20/seed/v1'

/**
 * The seed of every burn secret and tweak, from the 32 bytes of the treasury's private key (HKDF-SHA256, empty
 * salt). The domain is ours alone: a signature or a wallet seed made with the same key elsewhere tells nothing
 * about it. Whoever holds the seed can link burns to the treasury, but cannot redirect a mint.
 */
export function deriveSeed(treasuryKey: Uint8Array): Uint8Array {
  assert(treasuryKey.length === 32, 'expected a treasury key of 32 bytes')
  return hkdf(sha256, treasuryKey, undefined, utf8ToBytes(seedDomain), 32)
}
