/** Makes one-time addresses: mines new ones, and derives those that were made before again. */
import assert from 'node:assert/strict'
import { type ChallengeNonce, parseAddress } from '@svc-zerc20/protocol'
import { type BurnTerms, burnAddressAt, deriveBurn, hexOf, type PowPuzzle } from '@svc-zerc20/zk'
import type { Config } from '../config/config.js'
import type { ReadyAddress } from '../payment/ports.js'
import type { AddressEpoch } from '../payment/records.js'
import type { AddressMiner } from './miner.js'

export type AddressTerms = Omit<BurnTerms, 'challengeNonce' | 'epoch'>

/** A search for one address. */
type Puzzle = PowPuzzle & { readonly challengeNonce: ChallengeNonce; readonly epoch?: AddressEpoch }

function puzzleOf(terms: AddressTerms, challengeNonce: ChallengeNonce, epoch?: AddressEpoch): Puzzle {
  const { generation, powBits, recipientHash, baseSecret } = deriveBurn({ ...terms, challengeNonce, epoch })
  return { challengeNonce, generation, powBits, recipientHash, baseSecret, ...(epoch && { epoch }) }
}

/** Finds the address of a nonce. It is derived from the terms once more, and not from the puzzle that was searched. */
async function mineAddress(
  miner: Pick<AddressMiner, 'mine'>,
  terms: AddressTerms,
  challengeNonce: ChallengeNonce,
  epoch?: AddressEpoch,
): Promise<ReadyAddress> {
  const puzzle = () => puzzleOf(terms, challengeNonce, epoch)
  const powNonce = await miner.mine(puzzle())
  const payTo = parseAddress(burnAddressAt(puzzle(), powNonce))
  assert(payTo !== undefined, 'a worker returned a nonce that does not pass the proof of work')
  return { challengeNonce, payTo, powNonce, powBits: terms.powBits, ...(epoch && { epoch }) }
}

/** Throws when the terms can make no address at all. */
export function createAddressMaker(deps: {
  readonly terms: AddressTerms
  readonly random: { bytes(length: number): Uint8Array }
  readonly clock: { now(): number }
  readonly miner: Pick<AddressMiner, 'mine'>
  /** The epoch of a new address. Absent when every address is minted by its own proof. */
  readonly epochAt?: ((nowMs: number) => AddressEpoch) | undefined
}) {
  const { terms, random, clock, miner, epochAt } = deps
  deriveBurn({ ...terms, challengeNonce: hexOf(new Uint8Array(32)) })
  return {
    /** A new address. Throws when the miner fails. */
    mine: async (): Promise<ReadyAddress> =>
      mineAddress(miner, terms, hexOf(random.bytes(32)) as ChallengeNonce, epochAt?.(clock.now())),
    /**
     * Derives a stored address again. Undefined when it was made under other terms: another proof of work, generation,
     * chain, treasury or key, in another mode, or in epochs of another length or ledger. An operator who changed them wants
     * none of these addresses handed out. Undefined also for what is no address.
     */
    restore(stored: ReadyAddress): ReadyAddress | undefined {
      const { challengeNonce, powNonce, powBits, epoch } = stored
      if (epoch && typeof epoch.start !== 'number') return undefined
      const today = epoch && epochAt?.(epoch.start * 1000)
      const isOfEpochs = today !== undefined && today.start === epoch?.start && today.ledger === epoch.ledger
      if (!(epochAt ? isOfEpochs : epoch === undefined) || powBits !== terms.powBits) return undefined
      const payTo = burnAddressAt(deriveBurn({ ...terms, challengeNonce, epoch }), powNonce)
      if (payTo !== stored.payTo) return undefined
      return { challengeNonce, payTo: stored.payTo, powNonce, powBits, ...(today && { epoch: today }) }
    },
  }
}

/** The part of a challenge that derives from the seed and its nonce, and from its epoch where it has one. */
export type DeriveAddress = (
  nonce: ChallengeNonce,
  epoch?: AddressEpoch,
  /** Bits of the proof of work, where they are not those of the configuration. */
  powBits?: number,
) => Promise<Pick<ReadyAddress, 'payTo' | 'powNonce' | 'epoch'>>

/** The search starts at the same number as the first time, so that it finds the same proof of work. */
export const createDeriveAddress =
  (miner: Pick<AddressMiner, 'mine'>, seed: Uint8Array, config: Config): DeriveAddress =>
  async (challengeNonce, epoch, powBits = config.zerc20.pow_bits) => {
    const terms = { ...termsOf(config, seed), powBits }
    const { payTo, powNonce } = await mineAddress(miner, terms, challengeNonce, epoch)
    return { payTo, powNonce, ...(epoch && { epoch }) }
  }

/** The terms under which this configuration makes addresses. */
export const termsOf = ({ network, settlement, zerc20 }: Config, seed: Uint8Array): AddressTerms => ({
  generation: 2,
  powBits: zerc20.pow_bits,
  chainId: network.chain_id,
  treasury: settlement.treasury,
  seed,
})
