/**
 * Which followed blocks are remembered. The older they are, the farther apart they lie. After a short reorg
 * only a few blocks are read again, and after a reorg of any depth there is a block before it.
 */
import type { Checkpoint, FollowedBlock } from './issued-store.js'

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
