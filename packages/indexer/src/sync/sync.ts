/**
 * Follows the token's transfers, and checks all that the node tells. Indices must be contiguous. The hash
 * chain is computed from the transfers and compared with the token's own, in the very block that ends the
 * span. If a stored block is no longer on the chain, it is dropped with everything after it.
 */
import { createLogSpan } from '@svc-zerc20/evm'
import { SvcError } from '@svc-zerc20/protocol'
import type { BlockRef, Chain } from '../chain/chain.js'
import type { ReportedTransfer } from '../chain/transfer.js'
import type { Log } from '../events.js'
import { limits } from '../limits.js'
import type { ChainedTransfer, Database, SyncedBlock } from '../store/database.js'
import { chainTransfers, compareWithToken, isDoubtful } from './believed.js'
import { createWayBack } from './way-back.js'

/** `idle`: everything there is was read. `moved`: there may be more, so read on at once. */
export type SyncOutcome = 'idle' | 'moved'

export type Sync = {
  /** One look at the chain and at most one span of it. Throws `SvcError`; the next step tries again. */
  step(): Promise<SyncOutcome>
}

/** Creates the follower of one token. */
export function createSync(deps: {
  chain: Chain
  database: Database
  /** Blocks that must lie upon a block before it is read. */
  confirmations: number
  log: Log
  spanBlocksMax?: number
}): Sync {
  const { chain, database, confirmations, log, spanBlocksMax = limits.spanBlocks } = deps
  const span = createLogSpan({ blocksMax: spanBlocksMax, shrinkBy: 2 })
  const back = createWayBack({ chain, database, log })

  async function step(): Promise<SyncOutcome> {
    const head = database.head()
    const { latest, known } = await chain.latestAnd(head.number)
    if (known === undefined ? await back.isShorterBranch(latest) : known.hash !== head.hash) {
      await back.toCommonBlock()
      return 'moved'
    }
    if (known === undefined) return 'idle'
    const target = latest.number - confirmations
    if (target <= head.number) return 'idle'
    const to = span.lastBlock(head.number + 1, target)
    // The block is asked for by its number, even the newest one: a node can name any number as its head.
    const [end] = await chain.blocksAt([to])
    if (end === undefined) return 'idle'
    const logs = await readSpan(head.number + 1, to)
    if (logs === undefined) return 'moved'
    return readOn(head, logs, end, to === target)
  }

  async function readSpan(from: number, to: number): Promise<readonly ReportedTransfer[] | undefined> {
    try {
      const logs = await chain.transfers(from, to)
      span.answered()
      return logs
    } catch (error) {
      // Nodes refuse spans with too many logs, each in its own words. The answer may also be too large.
      const isOfNode = error instanceof SvcError && error.code.startsWith('rpc_')
      if (!isOfNode || !span.refused(to - from + 1)) throw error
      return undefined
    }
  }

  async function readOn(
    head: SyncedBlock,
    logs: readonly ReportedTransfer[],
    end: BlockRef,
    isTarget: boolean,
  ): Promise<SyncOutcome> {
    try {
      const transfers = chainTransfers(head, logs, end)
      const hashChain = transfers.at(-1)?.hashChain ?? head.hashChain
      const last = { ...end, size: head.size + transfers.length, hashChain }
      // Most nodes prune old states. The comparison in the last block vouches for all blocks before it.
      if (isTarget) await compareWithToken(chain, last)
      await storeSpan(database, { transfers, last, isVerified: isTarget })
      if (transfers.length > 0) {
        log({ event: 'sync.advanced', block: last.number, size: last.size, transfers: transfers.length })
      }
      return isTarget ? 'idle' : 'moved'
    } catch (error) {
      if (!isDoubtful(error)) throw error
      // Across a reorg, logs and token can both be true and still differ; a node also refuses a block it has
      // dropped. Look again.
      const [now] = await chain.blocksAt([end.number])
      if (now?.hash !== end.hash) return 'idle'
      if (error.code !== 'rpc_error') await back.toVerifiedBlock()
      throw error
    }
  }

  return { step }
}

/** Writes whole blocks, some at a time, so that a long span survives a kill in its middle. */
async function storeSpan(
  database: Database,
  span: { transfers: readonly ChainedTransfer[]; last: SyncedBlock; isVerified: boolean },
): Promise<void> {
  const { transfers, last, isVerified } = span
  let from = 0
  for (const [at, transfer] of transfers.entries()) {
    const following = transfers[at + 1]
    const isFull = at + 1 - from >= limits.transfersPerCommit
    if (!following || !isFull || following.blockNumber === transfer.blockNumber) continue
    await database.append(transfers.slice(from, at + 1), blockAfter(transfer), isVerified)
    from = at + 1
  }
  await database.append(transfers.slice(from), last, isVerified)
}

const blockAfter = ({ blockNumber, blockHash, index, hashChain }: ChainedTransfer): SyncedBlock => ({
  number: blockNumber,
  hash: blockHash,
  size: index + 1,
  hashChain,
})
