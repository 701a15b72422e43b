/** Computes signers of ECDSA signatures. A thread can load this file without the rest of the daemon. */
import { bytesToHex } from '@noble/hashes/utils'
import { keccak256 } from '@svc-zerc20/kernel'
import { recover } from 'tiny-secp256k1'

/** The digest, r, s and the parity, as 97 bytes of hex without 0x: text goes to a thread quicker than bytes. */
export type SignerQuestion = string

/** The address whose key made the signature, in lower case, or undefined when there is no such key. */
export function signerOf(question: SignerQuestion): string | undefined {
  const bytes = Buffer.from(question, 'hex')
  try {
    const publicKey = recover(bytes.subarray(0, 32), bytes.subarray(32, 96), bytes[96] === 1 ? 1 : 0, false)
    return publicKey ? `0x${bytesToHex(keccak256(publicKey.subarray(1)).subarray(12))}` : undefined
  } catch {
    // The library throws for r or s outside the group, which is simply a bad signature.
    return undefined
  }
}
