/** Makes one-time addresses: mines new ones, and derives those that were made before again. */
import assert from 'node:assert/strict'
import { type Address, type ChallengeNonce, parseAddress } from '@svc-zerc20/protocol'
import { type BurnTerms, burnAddressAt, deriveBurn, hexOf, verifyBurnAddress } from '@svc-zerc20/zk'
import type { Config } from '../config/config.js'
import type { ReadyAddress } from '../payment/ports.js'
import type { AddressEpoch } from '../payment/records.js'
import type { AddressMiner } from './miner.js'

export type AddressTerms = Omit<BurnTerms, 'challengeNonce' | 'epoch'>

/** Throws when the terms can make no address at all. */
export function createAddressMaker(deps: {
  readonly terms: AddressTerms
  readonly miner: Pick<AddressMiner, 'mine'>
  readonly random: { bytes(length: number): Uint8Array }
  readonly clock: { now(): number }
  /** The epoch of a new address. Absent when every address is minted by a proof of its own. */
  readonly epochAt?: ((nowMs: number) => AddressEpoch) | undefined
}) {
  const { terms, miner, random, clock, epochAt } = deps
  deriveBurn({ ...terms, challengeNonce: hexOf(new Uint8Array(32)) })
  return {
    /** A new address. Throws when the miner fails. */
    async mine(): Promise<ReadyAddress> {
      const challengeNonce = hexOf(random.bytes(32)) as ChallengeNonce
      const epoch = epochAt && { epoch: epochAt(clock.now()) }
      const mined = await mineAddress(miner, { ...terms, challengeNonce, ...epoch })
      return { challengeNonce, ...mined, powBits: terms.powBits, ...epoch }
    },
    /**
     * Derives a stored address again. Undefined when it was made under other terms: another proof of work, generation,
     * chain, treasury or key, in another mode, or in epochs of another length or ledger. Whoever changed them wants none
     * of these addresses handed out. Undefined also for what is no address: a miner elsewhere may have written it.
     */
    restore(stored: ReadyAddress): ReadyAddress | undefined {
      const { challengeNonce, powNonce, powBits, epoch } = stored
      if (epoch && typeof epoch.start !== 'number') return undefined
      const today = epoch && epochAt?.(epoch.start * 1000)
      const isOfEpochs = today !== undefined && today.start === epoch?.start && today.ledger === epoch.ledger
      if (!(epochAt ? isOfEpochs : epoch === undefined) || powBits !== terms.powBits) return undefined
      const payTo = burnAddressAt(deriveBurn({ ...terms, challengeNonce, epoch }), powNonce)
      if (payTo?.toLowerCase() !== stored.payTo) return undefined
      return { challengeNonce, payTo: stored.payTo, powNonce, powBits, ...(today && { epoch: today }) }
    },
  }
}

type MinedAddress = Pick<ReadyAddress, 'payTo' | 'powNonce'>

async function mineAddress(miner: Pick<AddressMiner, 'mine'>, burn: BurnTerms): Promise<MinedAddress> {
  const { payTo: text, powNonce } = await miner.mine(deriveBurn(burn))
  const payTo: Address | undefined = parseAddress(text)
  assert(payTo && verifyBurnAddress(burn, { payTo: text, powNonce }), 'a mined address does not derive again')
  return { payTo, powNonce }
}

/** The part of a challenge that derives from the seed and its nonce, and from its epoch where it has one. */
export type DeriveAddress = (
  nonce: ChallengeNonce,
  epoch?: AddressEpoch,
  /** Bits of the proof of work, where they are not those of the configuration. */
  powBits?: number,
) => Promise<MinedAddress & { readonly epoch?: AddressEpoch }>

/** The search starts at the same number as the first time, so that it finds the same proof of work. */
export const createDeriveAddress =
  (miner: Pick<AddressMiner, 'mine'>, seed: Uint8Array, config: Config): DeriveAddress =>
  async (challengeNonce, epoch, powBits = config.zerc20.pow_bits) => {
    const mined = await mineAddress(miner, { ...termsOf(config, seed), powBits, challengeNonce, epoch })
    return { ...mined, ...(epoch && { epoch }) }
  }

/** The terms under which this configuration makes addresses. */
export const termsOf = ({ network, settlement, zerc20 }: Config, seed: Uint8Array): AddressTerms => ({
  generation: zerc20.generation,
  powBits: zerc20.pow_bits,
  chainId: network.chain_id,
  treasury: settlement.treasury,
  seed,
})
