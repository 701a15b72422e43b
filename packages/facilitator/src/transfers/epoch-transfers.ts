/** Transfers to addresses of an epoch, as they were found on the chain. */
import type { IssuedStore } from '../addresses/issued/store.js'
import { type EpochLeaf, epochKey, epochOf } from '../payment/epochs/epoch.js'
import type { BatchPorts } from '../payment/epochs/ports.js'

export function createEpochTransfers(deps: {
  readonly store: Pick<IssuedStore, 'find' | 'kept' | 'followed'>
  /** Smaller transfers are left where they are: anybody can send them, and each takes a place in a proof. */
  readonly dustBelow: bigint
}): Pick<BatchPorts, 'found' | 'followedLeaves'> {
  const { store, dustBelow } = deps
  return {
    async found(epoch) {
      const leaves: EpochLeaf[] = []
      for await (const { payTo, transfers } of store.kept()) {
        const [challenge] = await store.find([payTo])
        const own = challenge && epochOf(challenge)
        if (!own || epochKey(own) !== epochKey(epoch)) continue
        for (const { minedAt: _, ...burn } of transfers) {
          if (burn.value >= dustBelow || burn.value >= challenge.amount) leaves.push({ challenge, burn })
        }
      }
      return leaves
    },

    async followedLeaves() {
      const followed = await store.followed()
      // Nothing was searched yet. A later search that knows no leaves read everything up to its block.
      return followed ? followed.token?.size : 0n
    },
  }
}
