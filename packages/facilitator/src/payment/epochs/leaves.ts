/** Every transfer to an address of an epoch that we know of, from the ledger and from the chain. */
import type { Books } from '../books.js'
import { type Epoch, type EpochLeaf, epochKey, epochOf } from './epoch.js'
import type { BatchPorts } from './ports.js'

/** In no order. Each leaf is there once. */
export type EpochLeaves = (epoch: Epoch) => Promise<readonly EpochLeaf[]>

/** A clock that was set back may have issued an address before its epoch began. */
const clockMarginSeconds = 86_400

export function createEpochLeaves(deps: {
  readonly books: Pick<Books, 'page'>
  readonly found: BatchPorts['found']
}): EpochLeaves {
  return async (epoch) => {
    const leaves = new Map<bigint, EpochLeaf>()
    const key = epochKey(epoch)
    const since = epoch.start - clockMarginSeconds
    const { payments } = await deps.books.page({ since, limit: Number.POSITIVE_INFINITY })
    for (const { challenge, accepted, late } of payments) {
      const own = epochOf(challenge)
      if (!own || epochKey(own) !== key) continue
      for (const burn of [accepted?.burn, late]) if (burn) leaves.set(burn.leafIndex, { challenge, burn })
    }
    for (const leaf of await deps.found(epoch)) {
      if (!leaves.has(leaf.burn.leafIndex)) leaves.set(leaf.burn.leafIndex, leaf)
    }
    return [...leaves.values()]
  }
}
