/** Derives the one-time address of a challenge from its nonce, and searches its proof of work again. */
import { type Address, type ChallengeNonce, parseAddress, SvcError } from '@svc-zerc20/protocol'
import { deriveBurn } from '@svc-zerc20/zk'
import type { Config } from '../config/config.js'
import type { AddressEpoch } from '../payment/records.js'
import type { AddressMiner } from './miner.js'

/** The part of a challenge that derives from the seed and its nonce, and from its epoch where it has one. */
export type DeriveAddress = (
  nonce: ChallengeNonce,
  epoch?: AddressEpoch,
  /** Bits of the proof of work, where they are not those of the configuration. */
  powBits?: number,
) => Promise<{ readonly payTo: Address; readonly powNonce: number; readonly epoch?: AddressEpoch }>

/** The search starts at the same number as the first time, so that it finds the same proof of work. */
export function createDeriveAddress(
  miner: Pick<AddressMiner, 'mine'>,
  seed: Uint8Array,
  { network, settlement, zerc20 }: Config,
): DeriveAddress {
  return async (nonce, epoch, powBits = zerc20.pow_bits) => {
    const mined = await miner.mine(
      deriveBurn({
        generation: zerc20.generation,
        powBits,
        chainId: network.chain_id,
        treasury: settlement.treasury,
        seed,
        challengeNonce: nonce,
        epoch,
      }),
    )
    return {
      payTo: addressIn(mined.payTo),
      powNonce: mined.powNonce,
      ...(epoch && { epoch }),
    }
  }
}

function addressIn(text: string): Address {
  const address = parseAddress(text)
  if (address === undefined) throw new SvcError('invariant', 'the miner gave no address')
  return address
}
