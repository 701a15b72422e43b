import type { Hex } from 'viem'
import type { BlockBuilder } from './block-builder.js'
import type { ChainTime, ChainTimeState } from './chain-time.js'
import type { Engine } from './engine.js'
import type { Mempool, PooledTransaction } from './mempool.js'
import { RpcError, rpcErrorCodes } from './rpc/rpc-error.js'

export type ReorgOptions = {
  /** Returns the dropped blocks' transactions to the mempool. Otherwise they are lost. */
  keepTransactions?: boolean
}

export type ReorgResult = {
  /** Height after the reorg: the same as before it. */
  height: number
  /** Transactions that lost their block. */
  transactions: Hex[]
}

/** Goes back in the chain's history and continues on another branch. */
export type Reorg = {
  /**
   * Replaces the last blocks by the same number of empty ones. Kept transactions return to the front of the mempool,
   * and the mining mode decides when they are mined again.
   */
  replace(depth: number, options?: ReorgOptions): Promise<ReorgResult>
  snapshot(): Promise<Hex>
  /** Returns to a snapshot, with its mempool and its time. False when the chain no longer has it. */
  revert(id: Hex): Promise<boolean>
}

type Saved = { height: number; pending: readonly PooledTransaction[]; time: ChainTimeState }

/** Creates the reorg steps. Callers must make sure that steps do not overlap. */
export function createReorg(dependencies: {
  engine: Engine
  builder: BlockBuilder
  mempool: Mempool
  time: ChainTime
}): Reorg {
  const { engine, builder, mempool, time } = dependencies
  const saved = new Map<Hex, Saved>()

  async function rewind(snapshot: Hex, height: number): Promise<void> {
    await engine.request('evm_revert', [snapshot])
    // A revert invalidates its snapshot and every later one.
    for (const id of saved.keys()) if (BigInt(id) >= BigInt(snapshot)) saved.delete(id)
    await builder.follow(height)
  }

  async function replace(depth: number, options: ReorgOptions = {}): Promise<ReorgResult> {
    const undone = builder.recent().slice(-depth)
    const first = undone[0]
    if (depth < 1 || undone.length < depth || first?.snapshotBefore === undefined) {
      const most = builder.recent().length
      throw new RpcError(
        rpcErrorCodes.invalidParams,
        `a reorg of ${depth} blocks: only 1 to ${most} can be undone`,
      )
    }
    const waiting = mempool.list()
    const dropped = undone.flatMap((block) => block.transactions)
    await rewind(first.snapshotBefore, first.number - 1)
    await emptyMempool()
    for (let count = 0; count < depth; count++) await builder.build()
    for (const { raw } of [...(options.keepTransactions ? dropped : []), ...waiting])
      await builder.sendAgain(raw)
    return { height: builder.height(), transactions: dropped.map(({ hash }) => hash) }
  }

  // The revert restored the mempool of that time. The new branch must not mine it by itself.
  async function emptyMempool(): Promise<void> {
    const restored = (await engine.request('eth_pendingTransactions')) as { hash: Hex }[]
    for (const { hash } of restored) await engine.request('hardhat_dropTransaction', [hash])
    mempool.replaceAll([])
  }

  return {
    replace,
    async snapshot() {
      const id = (await engine.request('evm_snapshot')) as Hex
      saved.set(id, { height: builder.height(), pending: mempool.list(), time: time.save() })
      return id
    },
    async revert(id) {
      const state = saved.get(id)
      if (state === undefined) return false
      await rewind(id, state.height)
      mempool.replaceAll(state.pending)
      time.restore(state.time)
      return true
    },
  }
}
