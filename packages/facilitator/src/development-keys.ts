/** Private keys that everybody knows. Money sent to them is anybody's. */
import { type Hex, toHex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'

/** The mnemonic that development nodes print at start; its first twenty accounts are famous. */
const mnemonic = 'test test test test test test test test test test test junk'
const accounts = 20

let known: Set<string> | undefined

export function isDevelopmentKey(key: Hex): boolean {
  known ??= new Set(
    Array.from({ length: accounts }, (_, addressIndex) => {
      const { privateKey } = mnemonicToAccount(mnemonic, { addressIndex }).getHdKey()
      return privateKey ? toHex(privateKey) : ''
    }),
  )
  return known.has(key.toLowerCase()) || BigInt(key) <= 0xffffn
}
