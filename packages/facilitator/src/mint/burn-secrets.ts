/** Secrets of a challenge that only we can derive: the opened recipient and the burn secret. Never logged. */
import { burnAddressAt, deriveBurn, type Hex, recipientWord, secretAt } from '@svc-zerc20/zk'
import type { Config } from '../config/config.js'
import type { Challenge } from '../payment/records.js'

export type BurnSecrets = {
  readonly recipientHash: bigint
  readonly secret: bigint
  readonly recipient: { readonly chainId: bigint; readonly recipient: Hex; readonly tweak: Hex }
  /** The address a burn must have gone to, lower-case; undefined when its proof of work does not hold. */
  payTo(): string | undefined
}

export type BurnSecretsOf = (
  challenge: Pick<Challenge, 'nonce' | 'treasury' | 'powNonce' | 'epoch'>,
) => BurnSecrets

export function createBurnSecrets(seed: Uint8Array, { network, zerc20 }: Config): BurnSecretsOf {
  return ({ nonce, treasury, powNonce, epoch }) => {
    const derivation = deriveBurn({
      generation: zerc20.generation,
      // The address was mined with the bits of its day. Whether they are enough is for the circuit to say.
      powBits: 0,
      chainId: network.chain_id,
      // The treasury of the challenge, not of today's configuration: the address is bound to it.
      treasury,
      seed,
      challengeNonce: nonce,
      epoch,
    })
    return {
      recipientHash: derivation.recipientHash,
      secret: secretAt(derivation, powNonce),
      payTo: () => burnAddressAt(derivation, powNonce)?.toLowerCase(),
      recipient: {
        chainId: BigInt(network.chain_id),
        recipient: recipientWord(treasury),
        tweak: derivation.tweak,
      },
    }
  }
}
