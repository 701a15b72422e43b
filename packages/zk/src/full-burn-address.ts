import { concatBytes } from '@noble/hashes/utils'
import { bigEndian, bytesOf, type Hex, hexOf } from './hex.js'
import { chainIdBytes, type GeneralRecipient } from './recipient-hash.js'

const layoutVersion = 1

/**
 * zERC20's 105-byte form of all that redeeming one burn takes. It links the burn to its recipient, so treat it
 * as a secret; it cannot redirect the mint.
 */
export function encodeFullBurnAddress(to: GeneralRecipient, secret: bigint): Hex {
  return hexOf(
    concatBytes(
      Uint8Array.of(layoutVersion),
      chainIdBytes(to.chainId),
      bytesOf(to.recipient, 32),
      bytesOf(to.tweak, 32),
      bigEndian(secret, 32),
    ),
  )
}
