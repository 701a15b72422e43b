import { keccak_256 } from '@noble/hashes/sha3'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils'
import type { Hex } from './hex.js'

/** EIP-55: a hex letter is upper case where the hash of the lower-case text has a nibble of 8 or more. */
export function checksumAddress(address: Uint8Array): Hex {
  const lower = bytesToHex(address)
  const hash = bytesToHex(keccak_256(utf8ToBytes(lower)))
  const mixed = Array.from(lower, (digit, at) =>
    Number.parseInt(hash.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${mixed.join('')}`
}
