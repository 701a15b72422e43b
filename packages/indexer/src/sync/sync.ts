/**
 * Follows the token's transfers. Nothing is believed for the asking: indices must be contiguous, the hash chain is
 * computed from the transfers and compared with what the token says in the very block the span ends with, and a
 * stored block whose hash left the chain takes what came after it with it.
 */
import { createLogSpan } from '@svc-zerc20/evm'
import { SvcError } from '@svc-zerc20/protocol'
import { nextHashChain } from '@svc-zerc20/zk'
import type { BlockRef, Chain } from '../chain/chain.js'
import type { ReportedTransfer } from '../chain/transfer.js'
import type { Log } from '../events.js'
import { limits } from '../limits.js'
import type { ChainedTransfer, Database } from '../store/database.js'
import type { SyncedBlock } from '../store/record.js'

/** `idle`: all there is was read. `moved`: read on at once. */
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

  async function step(): Promise<SyncOutcome> {
    const head = database.head()
    const { latest, known } = await chain.latestAnd(head.number)
    if (known === undefined ? await isShorterBranch(latest) : known.hash !== head.hash) {
      await goBack(head)
      return 'moved'
    }
    if (known === undefined) return 'idle'
    const target = latest.number - confirmations
    if (target <= head.number) return 'idle'
    const to = span.lastBlock(head.number + 1, target)
    // Asked for by its number, the newest one too: a node can name any number as its head.
    const [end] = await chain.blocksAt([to])
    if (end === undefined) return 'idle'
    const logs = await readSpan(head.number + 1, to)
    if (logs === undefined) return 'moved'
    return readOn(head, logs, end, to === target)
  }

  /** A chain that ends below our head has another branch, or comes from a node that lags: what it shares tells. */
  async function isShorterBranch(latest: BlockRef): Promise<boolean> {
    const [stored] = await database.blocksBefore(latest.number + 1, 1)
    if (stored === undefined) return false
    const [block] = await chain.blocksAt([stored.number])
    return block !== undefined && block.hash !== stored.hash
  }

  async function readSpan(from: number, to: number): Promise<readonly ReportedTransfer[] | undefined> {
    try {
      const logs = await chain.transfers(from, to)
      span.answered()
      return logs
    } catch (error) {
      // Nodes refuse spans with too many logs, each in words of its own; the answer may also be too large.
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
    const next = logs.at(-1)
    try {
      const transfers = follow(head, logs)
      const hashChain = transfers.at(-1)?.hashChain ?? head.hashChain
      const last = {
        ...end,
        size: head.size + transfers.length,
        hashChain,
      }
      if (next?.blockNumber === end.number && next.blockHash !== end.hash) throw moved(end)
      // Old states are pruned by most nodes, and the last one vouches for all before it.
      if (isTarget) await compareWithToken(last)
      await store(transfers, last, isTarget)
      if (transfers.length > 0) {
        log({ event: 'sync.advanced', block: last.number, size: last.size, transfers: transfers.length })
      }
      return isTarget ? 'idle' : 'moved'
    } catch (error) {
      if (!(error instanceof SvcError) || !doubtful.has(error.code)) throw error
      // Read across a reorg, both sides are true, or the node refuses a block it has dropped: look again.
      const [now] = await chain.blocksAt([end.number])
      if (now?.hash !== end.hash) return 'idle'
      if (error.code !== 'rpc_error') await rollBack()
      throw error
    }
  }

  async function compareWithToken(last: SyncedBlock): Promise<void> {
    const token = await chain.tokenAt(last)
    if (token.index !== last.size) {
      throw new SvcError(
        'token_index_mismatch',
        `block ${last.number}: the node reported ${last.size} transfers, the token counts ${token.index}`,
      )
    }
    if (token.hashChain !== last.hashChain) {
      throw new SvcError(
        'hash_chain_mismatch',
        `block ${last.number}: the reported transfers do not lead to the token's hash chain`,
      )
    }
  }

  /** Writes whole blocks, some at a time, so that a long span survives a kill in its middle. */
  async function store(
    transfers: readonly ChainedTransfer[],
    last: SyncedBlock,
    isVerified: boolean,
  ): Promise<void> {
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

  async function goBack(head: SyncedBlock): Promise<void> {
    const common = await lastCommonBlock(head.number + 1)
    await database.truncate(common)
    const dropped = head.size - common.size
    log({ event: 'sync.reorg', from: head.number, to: common.number, size: common.size, dropped })
  }

  async function lastCommonBlock(before: number): Promise<SyncedBlock> {
    for (let below = before; ; ) {
      const stored = await database.blocksBefore(below, limits.blocksPerWalkStep)
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

  /** Back to what the token confirmed: a span that was read from history may have been wrong too. */
  async function rollBack(): Promise<void> {
    const head = database.head()
    const verified = database.verified()
    if (head.number === verified.number) return
    await database.truncate(verified)
    const dropped = head.size - verified.size
    log({ event: 'sync.rolled_back', to: verified.number, size: verified.size, dropped })
  }

  return { step }
}

/** What a reorg in the middle of a step can look like. */
const doubtful = new Set([
  'rpc_error',
  'events_not_contiguous',
  'token_index_mismatch',
  'hash_chain_mismatch',
  'block_moved',
])

const moved = ({ number }: BlockRef) =>
  new SvcError('block_moved', `block ${number} was replaced while it was read`)

/** The hash chain after each transfer; indices must go on where the head ended. */
function follow(head: SyncedBlock, logs: readonly ReportedTransfer[]): ChainedTransfer[] {
  let { size, hashChain } = head
  return logs.map((log) => {
    if (log.index !== size || log.blockNumber <= head.number) {
      throw new SvcError(
        'events_not_contiguous',
        `block ${log.blockNumber}: expected transfer ${size}, the node reported ${log.index}`,
      )
    }
    size += 1
    hashChain = nextHashChain(2, hashChain, log)
    return { ...log, hashChain }
  })
}

const blockAfter = ({ blockNumber, blockHash, index, hashChain }: ChainedTransfer): SyncedBlock => ({
  number: blockNumber,
  hash: blockHash,
  size: index + 1,
  hashChain,
})
