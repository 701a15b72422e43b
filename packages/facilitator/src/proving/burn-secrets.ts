/** Secrets of a challenge that only we can derive: the opened recipient and the burn secret. Never logged. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { burnAddressAt, deriveBurn, type Hex, recipientWord, secretAt } from '@svc-zerc20/zk'
import type { Config } from '../config/config.js'
import type { Epoch } from '../payment/epochs/epoch.js'
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

type Derivation = {
  readonly network: Pick<Config['network'], 'chain_id'>
}

/** The recipient hash of an epoch, which all its addresses share. */
export function createRecipientHashes(seed: Uint8Array, config: Derivation): (epoch: Epoch) => bigint {
  const secretsOf = createBurnSecrets(seed, config)
  const anyAddress = { nonce: `0x${'00'.repeat(32)}` as ChallengeNonce, powNonce: 0 }
  return ({ treasury, ...epoch }) => secretsOf({ ...anyAddress, treasury, epoch }).recipientHash
}

export function createBurnSecrets(seed: Uint8Array, { network }: Derivation): BurnSecretsOf {
  return ({ nonce, treasury, powNonce, epoch }) => {
    const derivation = deriveBurn({
      generation: 2,
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
      payTo: () => burnAddressAt(derivation, powNonce),
      recipient: {
        chainId: BigInt(network.chain_id),
        recipient: recipientWord(treasury),
        tweak: derivation.tweak,
      },
    }
  }
}
