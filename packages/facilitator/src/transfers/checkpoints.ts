/**
 * Which followed blocks are remembered. They lie the farther apart the older they are: a short reorg is read again for
 * a few blocks, and one of any depth finds a block before it.
 */
import type { Checkpoint, FollowedBlock } from '../addresses/issued/store.js'

/** The block that was followed now, with those before it that are worth remembering: some dozens at most. */
export function withCheckpoints(before: FollowedBlock | undefined, block: Checkpoint): FollowedBlock {
  const known = checkpointsOf(before).filter(({ number }) => number < block.number)
  const earlier: Checkpoint[] = []
  for (const [i, checkpoint] of known.entries()) {
    const newer = earlier.at(-1) ?? block
    const older = known[i + 1]
    // Without it the next one would still be at most twice as old as the one before.
    const isNeedless = older && newer.number - older.number <= block.number - newer.number
    if (!isNeedless) earlier.push(checkpoint)
  }
  return { ...block, earlier }
}

/** The newest first. One without a hash could not be told from a fork's. */
export function checkpointsOf(followed: FollowedBlock | undefined): readonly Checkpoint[] {
  if (!followed) return []
  const { earlier = [], ...block } = followed
  return [block, ...earlier].filter(({ hash }) => hash !== undefined)
}
