/** An account that sends transactions. libsecp256k1 signs for it, in a fifth of the time that plain JavaScript takes. */
import type { HashSigner } from '@svc-zerc20/evm'
import { signRecoverable } from 'tiny-secp256k1'
import type { Address, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

export type SendingAccount = HashSigner & { readonly address: Address }

export function sendingAccountOf(privateKey: Hex): SendingAccount {
  const { address } = privateKeyToAccount(privateKey)
  const key = Buffer.from(privateKey.slice(2), 'hex')
  return {
    address,
    /** The nonce of a signature derives from key and hash, so the same hash has the same signature every time. */
    async sign({ hash }) {
      const { signature, recoveryId } = signRecoverable(Buffer.from(hash.slice(2), 'hex'), key)
      return `0x${Buffer.from(signature).toString('hex')}${(27 + recoveryId).toString(16)}`
    },
  }
}
