/** One group of payments that are minted together: addresses of one epoch and one treasury share the recipient hash. */
import type { AddressEpoch, AwaitingMint, Burn, Challenge } from '../records.js'

export type Epoch = AddressEpoch & { readonly treasury: Challenge['treasury'] }

/** A transfer to an address of an epoch. */
export type EpochLeaf = {
  readonly challenge: Challenge
  readonly burn: Burn
  /**
   * Set for a transfer that was found, and that the ledger has no burn for. True: a proof that counts it was made, so every
   * later count has it, too.
   */
  readonly isCounted?: boolean
}

/** The epoch of a challenge; undefined when it is minted by its own proof. */
export const epochOf = ({ treasury, epoch }: Pick<Challenge, 'treasury' | 'epoch'>): Epoch | undefined =>
  epoch && { ...epoch, treasury }

export const epochKey = ({ treasury, ledger, start }: Epoch): string => `${treasury} ${ledger} ${start}`

export type EpochPayments = { readonly epoch: Epoch; readonly payments: readonly AwaitingMint[] }

/** The payments of each epoch, in the order of the first payment of each. */
export function groupByEpoch(payments: readonly AwaitingMint[]): readonly EpochPayments[] {
  const groups = new Map<string, { readonly epoch: Epoch; readonly payments: AwaitingMint[] }>()
  for (const payment of payments) {
    const epoch = epochOf(payment.challenge)
    if (!epoch) continue
    const group = groups.get(epochKey(epoch))
    if (group) group.payments.push(payment)
    else groups.set(epochKey(epoch), { epoch, payments: [payment] })
  }
  return [...groups.values()]
}
