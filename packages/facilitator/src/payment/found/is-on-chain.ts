import type { RereadBurn } from '../finalize/ports.js'
import type { Burn, Challenge } from '../records.js'

export type OnChainDeps = {
  readonly reread: RereadBurn
  /** Blocks, its own included, that must hold a transfer before it counts. */
  readonly depth: number
}

/**
 * True when the block in which a transfer was found still holds it, deep enough. A transfer may have been found on a
 * fork that is no more, and the node may be behind. Throws when the node cannot tell.
 */
export async function isOnChain(deps: OnChainDeps, challenge: Challenge, found: Burn): Promise<boolean> {
  const read = await deps.reread(challenge, found)
  const isSame = read?.burn.blockHash === found.blockHash && read.burn.leafIndex === found.leafIndex
  return isSame && read.depth >= deps.depth
}
