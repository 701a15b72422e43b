/** Makes one-time addresses under one set of terms: mines new ones, and derives stored ones again. */
import assert from 'node:assert/strict'
import { type ChallengeNonce, parseAddress } from '@svc-zerc20/protocol'
import { type BurnTerms, burnAddressAt, deriveBurn, hexOf, verifyBurnAddress } from '@svc-zerc20/zk'
import type { ReadyAddress } from '../payment/ports.js'
import type { AddressEpoch } from '../payment/records.js'
import type { AddressMiner } from './miner.js'

export type AddressTerms = Omit<BurnTerms, 'challengeNonce' | 'epoch'>

export type AddressMaker = {
  /** A new address. Throws when the miner fails. */
  mine(): Promise<ReadyAddress>
  /**
   * Derives a stored address again. Undefined when it was made under other terms: another proof of work, generation,
   * chain, treasury or key, in another mode, or in epochs of another length or ledger. Whoever changed them wants none of these
   * addresses handed out.
   */
  restore(stored: ReadyAddress): ReadyAddress | undefined
  figures(): {
    readonly mined: number
    /** The time of every search from its start to its end, added up over threads. */
    readonly miningSeconds: number
  }
}

/** Throws when the terms can make no address at all. */
export function createAddressMaker(deps: {
  readonly terms: AddressTerms
  readonly miner: Pick<AddressMiner, 'mine'>
  readonly random: { bytes(length: number): Uint8Array }
  readonly clock: { now(): number }
  /** The epoch of a new address. Absent when every address is minted by a proof of its own. */
  readonly epochAt?: ((nowMs: number) => AddressEpoch) | undefined
}): AddressMaker {
  const { terms, miner, random, clock, epochAt } = deps
  const figures = { mined: 0, miningSeconds: 0 }
  deriveBurn({ ...terms, challengeNonce: hexOf(new Uint8Array(32)) })
  return {
    async mine() {
      const challengeNonce = hexOf(random.bytes(32)) as ChallengeNonce
      const startedAt = clock.now()
      const epoch = epochAt && { epoch: epochAt(startedAt) }
      const burn: BurnTerms = { ...terms, challengeNonce, ...epoch }
      const mined = await miner.mine(deriveBurn(burn))
      const payTo = parseAddress(mined.payTo)
      assert(payTo && verifyBurnAddress(burn, mined), 'a mined address does not derive again')
      figures.mined += 1
      figures.miningSeconds += (clock.now() - startedAt) / 1000
      return { challengeNonce, payTo, powNonce: mined.powNonce, powBits: terms.powBits, ...epoch }
    },
    restore(stored) {
      const { challengeNonce, powNonce, powBits, epoch } = stored
      const today = epoch && epochAt?.(epoch.start * 1000)
      const isOfEpochs = today !== undefined && today.start === epoch?.start && today.ledger === epoch.ledger
      if (!(epochAt ? isOfEpochs : epoch === undefined) || powBits !== terms.powBits) return undefined
      const payTo = burnAddressAt(deriveBurn({ ...terms, challengeNonce, epoch }), powNonce)
      return payTo?.toLowerCase() === stored.payTo ? stored : undefined
    },
    figures: () => figures,
  }
}
