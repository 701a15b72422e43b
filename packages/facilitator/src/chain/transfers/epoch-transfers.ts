/** Transfers to addresses of an epoch, as they were found on the chain. */
import type { BatchPorts } from '../../payment/epochs/ports.js'
import { burnIn } from '../../payment/found/judge-transfers.js'
import type { IssuedStore } from './issued-store.js'

export function createEpochTransfers({
  store,
}: {
  readonly store: Pick<IssuedStore, 'transfersOf' | 'followed' | 'mark'>
}): Pick<BatchPorts, 'found' | 'followedLeaves' | 'mark'> {
  return {
    async found(epoch) {
      const found = await store.transfersOf(epoch)
      return found.map(({ challenge, transfer }) => ({
        challenge,
        burn: burnIn(transfer),
        beside: transfer.beside ?? 'open',
      }))
    },

    async mark(leaves, as) {
      for (const { challenge, burn } of leaves) await store.mark(challenge.payTo, burn.leafIndex, as)
    },

    async followedLeaves() {
      const followed = await store.followed()
      // Nothing was searched yet. A later search that knows no leaves read everything up to its block.
      return followed ? followed.token?.size : 0n
    },
  }
}
