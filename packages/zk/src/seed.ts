import assert from 'node:assert/strict'
import { hkdf } from '@noble/hashes/hkdf'
import { sha256 } from '@noble/hashes/sha2'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils'

const seedDomain = 'svc-zerc20/seed/v1'
const fingerprintDomain = 'svc-zerc20/seed-fingerprint/v1'
const fingerprintBytes = 8

/**
 * Derives the seed of every burn secret and tweak from the 32 bytes of the treasury's private key (HKDF-SHA256, empty
 * salt). The domain is used nowhere else, so other uses of the same key reveal nothing about the seed. Whoever holds
 * the seed can link burns to the treasury, but cannot redirect a mint.
 */
export function deriveSeed(treasuryKey: Uint8Array): Uint8Array {
  assert(treasuryKey.length === 32, 'expected a treasury key of 32 bytes')
  return hkdf(sha256, treasuryKey, undefined, utf8ToBytes(seedDomain), 32)
}

/**
 * A public name of a seed: 16 hex digits of a one-way hash with its own domain. It distinguishes seeds and reveals
 * nothing else, so it may appear in public files.
 */
export function seedFingerprint(seed: Uint8Array): string {
  assert(seed.length === 32, 'expected a seed of 32 bytes')
  return bytesToHex(hkdf(sha256, seed, undefined, utf8ToBytes(fingerprintDomain), fingerprintBytes))
}
