import { sha256 } from '@noble/hashes/sha2'
import { concatBytes } from '@noble/hashes/utils'
import type { Generation } from './generation.js'
import { bigEndian, bytesOf, type Hex, integerOf } from './hex.js'

/** One transfer, as in the token's `IndexedTransfer` event. */
export type Transfer = {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
}

/** The token's `hashChain` after one more transfer. Generation 1 does not commit to the sender. */
export function nextHashChain(generation: Generation, previous: bigint, transfer: Transfer): bigint {
  const digest = sha256(
    concatBytes(
      bigEndian(previous, 32),
      generation === 2 ? bytesOf(transfer.from, 20) : new Uint8Array(),
      bytesOf(transfer.to, 20),
      bigEndian(transfer.value, 32),
    ),
  )
  digest[0] = 0 // 248 bits, so that every chain value is a field element
  return integerOf(digest)
}
