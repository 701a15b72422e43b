/** The ways back: to the last stored block that is still on the chain, and to the last one that the token confirmed. */
import { SvcError } from '@svc-zerc20/protocol'
import type { BlockRef, Chain } from '../chain/chain.js'
import type { Log } from '../events.js'
import { limits } from '../limits.js'
import type { Database, SyncedBlock } from '../store/database.js'

export type WayBack = {
  /** Whether a chain that ends below our head is another branch. Otherwise it comes from a node that lags. */
  isShorterBranch(latest: BlockRef): Promise<boolean>
  /** After a reorg. Throws `SvcError('chain_replaced')` when no stored block is on the chain. */
  toCommonBlock(): Promise<void>
  /** After a doubtful answer: an earlier span of history may have been wrong too. */
  toVerifiedBlock(): Promise<void>
}

export function createWayBack(deps: { chain: Chain; database: Database; log: Log }): WayBack {
  const { chain, database, log } = deps

  async function lastCommonBlock(before: number): Promise<SyncedBlock> {
    for (let below = before; ; ) {
      const stored = database.blocksBefore(below, limits.blocksPerWalkStep)
      const blocks = await chain.blocksAt(stored.map(({ number }) => number))
      const common = stored.find(({ hash }, at) => blocks[at]?.hash === hash)
      if (common !== undefined) return common
      const lowest = stored.at(-1)
      if (lowest === undefined) {
        throw new SvcError(
          'chain_replaced',
          'no stored block is on the chain: the node follows another chain, or the folder is of an older one',
        )
      }
      below = lowest.number
    }
  }

  return {
    async isShorterBranch(latest) {
      const [stored] = database.blocksBefore(latest.number + 1, 1)
      if (stored === undefined) return false
      const [block] = await chain.blocksAt([stored.number])
      return block !== undefined && block.hash !== stored.hash
    },
    async toCommonBlock() {
      const head = database.head()
      const common = await lastCommonBlock(head.number + 1)
      await database.truncate(common)
      const dropped = head.size - common.size
      log({ event: 'sync.reorg', from: head.number, to: common.number, size: common.size, dropped })
    },
    async toVerifiedBlock() {
      const head = database.head()
      const verified = database.verified()
      if (head.number === verified.number) return
      await database.truncate(verified)
      const dropped = head.size - verified.size
      log({ event: 'sync.rolled_back', to: verified.number, size: verified.size, dropped })
    },
  }
}
