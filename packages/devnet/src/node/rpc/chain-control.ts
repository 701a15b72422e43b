import type { Serial } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import type { BlockBuilder } from '../block-builder.js'
import type { ChainTime } from '../chain-time.js'
import type { Mining } from '../mining.js'
import type { Reorg, ReorgOptions, ReorgResult } from '../reorg.js'
import { RpcError, rpcErrorCodes } from './rpc-error.js'

/** All operations that change the chain. They run one after another, so none sees another half done. */
export type ChainControl = {
  send(raw: Hex): Promise<Hex>
  /** Mines blocks now, whatever the mode and also while paused; returns the height. */
  mine(blocks?: number): Promise<number>
  /** Stops automatic mining: transactions are taken and wait. Resolves when no block is under way. */
  pauseMining(): Promise<void>
  resumeMining(): Promise<void>
  /** Resolves when the chain has mined all that it mines by itself now. */
  idle(): Promise<void>
  /** Replaces the last blocks by empty ones: see `Reorg`. */
  reorg(depth: number, options?: ReorgOptions): Promise<ReorgResult>
  /** Evicts waiting transactions, all by default. Returns their hashes. */
  dropPending(hashes?: readonly Hex[]): Promise<Hex[]>
  snapshot(): Promise<Hex>
  revert(id: Hex): Promise<boolean>
  increaseTime(seconds: number): Promise<number>
  setNextBlockTimestamp(timestamp: number): Promise<void>
  /** Reads while no reorg is half done. */
  read<T>(task: () => Promise<T>): Promise<T>
}

const blocksPerCallMax = 10_000

/** Creates the control over a chain's parts. */
export function createChainControl(dependencies: {
  builder: BlockBuilder
  reorg: Reorg
  mining: Mining
  time: ChainTime
  serial: Serial
}): ChainControl {
  const { builder, reorg, mining, time, serial } = dependencies
  let reorganising: Promise<unknown> | undefined

  async function step<T>(task: () => Promise<T>): Promise<T> {
    const result = await serial(task)
    mining.wake()
    return result
  }

  function rewriting<T>(task: () => Promise<T>): Promise<T> {
    return step(async () => {
      const running = task()
      reorganising = running.catch(() => undefined)
      try {
        return await running
      } finally {
        reorganising = undefined
      }
    })
  }

  return {
    send: (raw) => step(() => builder.send(raw)),
    mine: (blocks = 1) =>
      step(async () => {
        if (blocks > blocksPerCallMax) {
          throw new RpcError(rpcErrorCodes.invalidParams, `at most ${blocksPerCallMax} blocks a call`)
        }
        for (let count = 0; count < blocks; count++) await builder.build()
        return builder.height()
      }),
    pauseMining: () => mining.pause(),
    resumeMining: async () => mining.resume(),
    idle: () => mining.idle(),
    reorg: (depth, options) => rewriting(() => reorg.replace(depth, options)),
    dropPending: (hashes) => step(() => builder.dropPending(hashes)),
    snapshot: () => step(() => reorg.snapshot()),
    revert: (id) => rewriting(() => reorg.revert(id)),
    increaseTime: (seconds) => step(async () => time.increase(seconds)),
    setNextBlockTimestamp: (timestamp) => step(async () => time.force(timestamp)),
    async read(task) {
      await reorganising
      return task()
    },
  }
}
