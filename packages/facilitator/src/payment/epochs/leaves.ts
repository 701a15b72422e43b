/**
 * The transfers to addresses of an epoch that a proof counts. The ledger's own burns are: those that paid, and those that
 * came too late. The largest transfer to an address without a burn is, too: it will be one. Further transfers never are: a
 * stranger who sends 2^i base units to the i-th address would read from the minted sums which of them belong together.
 */
import type { Address } from '@svc-zerc20/protocol'
import type { Books } from '../books.js'
import type { AwaitingMint } from '../records.js'
import type { Epoch, EpochLeaf } from './epoch.js'
import type { BatchPorts } from './ports.js'

/**
 * In no order. Each leaf is there once, and those of `payments` are always among them. A transfer that was passed over below the
 * checkpoint stays uncounted: counting it later would show its value as the difference of two sums.
 */
export type EpochLeaves = (
  epoch: Epoch,
  payments: readonly AwaitingMint[],
  checkpoint: bigint,
) => Promise<readonly EpochLeaf[]>

export type EpochLeavesDeps = Pick<BatchPorts, 'found' | 'dustBelow'> & {
  readonly ledger: { readonly books: Pick<Books, 'ofEpoch'> }
}

export function createEpochLeaves(deps: EpochLeavesDeps): EpochLeaves {
  /** A transfer whose payer may still present it is counted as the burn that it will be: accepted, or late. */
  function isWanted({ challenge, burn }: EpochLeaf, largest: ReadonlyMap<Address, EpochLeaf>): boolean {
    if (burn.value < deps.dustBelow && burn.value < challenge.amount) return false
    return largest.get(challenge.payTo)?.burn.leafIndex === burn.leafIndex
  }

  return async (epoch, payments, checkpoint) => {
    const leaves = new Map<bigint, EpochLeaf>()
    const paid = new Set<Address>()
    const addOwn = ({ challenge, burn }: EpochLeaf) => {
      leaves.set(burn.leafIndex, { challenge, burn })
      paid.add(challenge.payTo)
    }
    for (const { challenge, accepted, late } of await deps.ledger.books.ofEpoch(epoch)) {
      for (const burn of [accepted?.burn, late?.burn]) if (burn) addOwn({ challenge, burn })
    }
    for (const payment of payments) addOwn(payment)
    const found = (await deps.found(epoch)).filter(({ burn }) => !leaves.has(burn.leafIndex))
    const largest = largestOfEach(found.filter(({ challenge }) => !paid.has(challenge.payTo)))
    for (const leaf of found) {
      if (!leaf.isCounted && (leaf.burn.leafIndex < checkpoint || !isWanted(leaf, largest))) continue
      leaves.set(leaf.burn.leafIndex, leaf)
    }
    return [...leaves.values()]
  }
}

function largestOfEach(leaves: readonly EpochLeaf[]): ReadonlyMap<Address, EpochLeaf> {
  const largest = new Map<Address, EpochLeaf>()
  for (const leaf of leaves) {
    const { payTo } = leaf.challenge
    const known = largest.get(payTo)
    if (!known || known.burn.value < leaf.burn.value) largest.set(payTo, leaf)
  }
  return largest
}
