/**
 * Up to which block the token's transfers have been followed. After a reorg the cursor goes back to the newest
 * remembered block that is still on the chain. The older remembered blocks are, the farther apart they lie: after a short
 * reorg only a few blocks are read again, and after a reorg of any depth there is a block before it.
 */
import { SvcError } from '@svc-zerc20/protocol'
import type { Log } from '../../telemetry/events.js'
import type { Checkpoint, FollowedBlock, IssuedStore } from './issued-store.js'
import type { TokenBlock, TokenChain } from './token-chain.js'

export type Cursor = ReturnType<typeof createCursor>

export function createCursor(deps: {
  readonly store: Pick<IssuedStore, 'followed' | 'setFollowed' | 'firstBlock' | 'dropTransfersAfter'>
  readonly chain: Pick<TokenChain, 'block'>
  /** A block at or before the token's first transfer. */
  readonly deployedBlock: number
  readonly report: Log
}) {
  const { store, chain, deployedBlock } = deps

  /** The block before the first one that can hold a transfer to us; undefined when nothing was issued. */
  async function beforeFirst(): Promise<Checkpoint | undefined> {
    const first = await store.firstBlock()
    return first === undefined ? undefined : { number: Math.max(deployedBlock, Number(first)) - 1 }
  }

  /** Throws `SvcError('node_behind')` when the node has no block at that height, because nothing is known then. */
  async function isOnChain({ number, hash }: Checkpoint): Promise<boolean> {
    if (hash === undefined) return true
    const block = await chain.block(number)
    if (!block) throw new SvcError('node_behind', `the node has no block ${number}`)
    return block.hash === hash
  }

  async function newestOnChain(checkpoints: readonly Checkpoint[]): Promise<Checkpoint | undefined> {
    for (const checkpoint of checkpoints) if (await isOnChain(checkpoint)) return checkpoint
    return undefined
  }

  return {
    /** The block to go on from. `target` when nothing was issued yet: nobody can have paid us before it. */
    start: async (target: TokenBlock): Promise<FollowedBlock> =>
      (await store.followed()) ?? (await beforeFirst()) ?? target,

    isOnChain,

    /** Everything up to this block is followed. */
    advance: async (block: Checkpoint): Promise<void> =>
      store.setFollowed(withCheckpoints(await store.followed(), block)),

    /** Goes back to the newest block before `known` that is still on the chain. Transfers read twice are kept once. */
    async rewind(known: FollowedBlock): Promise<void> {
      const older = checkpointsOf(known).filter(({ number }) => number < known.number)
      const from = await newestOnChain(older)
      const start = from ?? (await beforeFirst()) ?? { number: deployedBlock - 1 }
      await store.dropTransfersAfter(start.number)
      await store.setFollowed({ ...start, earlier: older.filter(({ number }) => number < start.number) })
      deps.report({ event: 'follow.reorged', block: known.number, from: start.number })
    },
  }
}

/** The block that was followed now, with those before it that are worth remembering: some dozens at most. */
export function withCheckpoints(before: FollowedBlock | undefined, block: Checkpoint): FollowedBlock {
  const known = checkpointsOf(before).filter(({ number }) => number < block.number)
  const earlier: Checkpoint[] = []
  for (const [i, checkpoint] of known.entries()) {
    const newer = earlier.at(-1) ?? block
    const older = known[i + 1]
    // Without this checkpoint, the next one would still be at most twice as old as the one before.
    const isNeedless = older && newer.number - older.number <= block.number - newer.number
    if (!isNeedless) earlier.push(checkpoint)
  }
  return { ...block, earlier }
}

/** Checkpoints, newest first. One without a hash is left out: it could not be told from a fork's. */
export function checkpointsOf(followed: FollowedBlock | undefined): readonly Checkpoint[] {
  if (!followed) return []
  const { earlier = [], ...block } = followed
  return [block, ...earlier].filter(({ hash }) => hash !== undefined)
}
