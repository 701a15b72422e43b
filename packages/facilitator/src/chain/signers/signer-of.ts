/** Computes the signer of one ECDSA signature from bytes. A thread can load this file without the rest of the daemon. */
import { keccak_256 } from '@noble/hashes/sha3'
import { recover } from 'tiny-secp256k1'

/** The 20 bytes of the address whose key made the signature (r ‖ s), or undefined when there is no such key. */
export function signerOf(
  digest: Uint8Array,
  compactSignature: Uint8Array,
  parity: 0 | 1,
): Uint8Array | undefined {
  try {
    const publicKey = recover(digest, compactSignature, parity, false)
    return publicKey ? keccak_256(publicKey.subarray(1)).subarray(12) : undefined
  } catch {
    // The library throws for r or s outside the group, which is simply a bad signature.
    return undefined
  }
}
