/** An account that sends transactions. libsecp256k1 signs for it, in a fifth of the time that plain JavaScript takes. */
import type { HashSigner } from '@svc-zerc20/evm'
import { SvcError } from '@svc-zerc20/protocol'
import { pointFromScalar, signRecoverable } from 'tiny-secp256k1'
import type { Address, Hex } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'

export type SendingAccount = HashSigner & { readonly address: Address }

const bytesOf = (hex: Hex) => Buffer.from(hex.slice(2), 'hex')

/** As viem has it, which first makes tables for many points: a start of the daemon needs two or three. */
export function addressOfKey(privateKey: Hex): Address {
  const point = pointFromScalar(bytesOf(privateKey), false)
  if (!point) throw new SvcError('invariant', 'a private key has no public key')
  return publicKeyToAddress(`0x${Buffer.from(point).toString('hex')}`)
}

export function sendingAccountOf(privateKey: Hex): SendingAccount {
  const key = bytesOf(privateKey)
  return {
    address: addressOfKey(privateKey),
    /** The nonce of a signature derives from key and hash, so the same hash has the same signature every time. */
    async sign({ hash }) {
      const { signature, recoveryId } = signRecoverable(bytesOf(hash), key)
      return `0x${Buffer.from(signature).toString('hex')}${(27 + recoveryId).toString(16)}`
    },
  }
}
