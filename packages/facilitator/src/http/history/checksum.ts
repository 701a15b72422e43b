/** Addresses as people write them. A history names the same few again and again, and writing one takes a hash. */
import { type Address, toChecksum } from '@svc-zerc20/protocol'

const rememberedMax = 64
const remembered = new Map<Address, ReturnType<typeof toChecksum>>()

/** `toChecksum` for an address that comes often: the treasury, or a payer. */
export function checksummed(address: Address): ReturnType<typeof toChecksum> {
  const known = remembered.get(address)
  if (known !== undefined) return known
  if (remembered.size >= rememberedMax) remembered.clear()
  const text = toChecksum(address)
  remembered.set(address, text)
  return text
}
