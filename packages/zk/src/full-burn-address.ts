import { concatBytes } from '@noble/hashes/utils'
import { bigEndian, bytesOf, type Hex, hexOf } from './hex.js'
import { chainIdBytes, type GeneralRecipient } from './recipient-hash.js'

const layoutVersion = 1

/**
 * zERC20's 105-byte encoding of everything that is needed to mint one burn. It links the burn to its recipient, so keep
 * it secret. Whoever has it cannot redirect the mint.
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
