/**
 * Merkle paths under proved roots. The indexer is asked first, and its answer is hashed up to the root on the
 * chain. If the indexer is down, behind or lying, our own tree from the token's logs answers instead.
 */
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { rootOfPath, transferLeaf } from '@svc-zerc20/zk'
import type { Indexer } from '../chain/indexer.js'
import type { ProvedRoot } from '../payment/finalize/ports.js'
import type { Log } from '../telemetry/events.js'
import type { OwnTree } from './own-tree.js'

/** A transfer and its place in the token's tree. */
export type TreeLeaf = {
  readonly leafIndex: bigint
  readonly from: Address
  readonly to: Address
  readonly value: bigint
}

/** Siblings from the leaf upwards; they lead from this leaf to the root. */
export type MerklePaths = (
  leaf: TreeLeaf,
  root: ProvedRoot,
  signal: AbortSignal,
) => Promise<readonly bigint[]>

export function createMerklePaths(deps: {
  readonly indexer: Pick<Indexer, 'siblings'>
  readonly ownTree: OwnTree
  readonly report: Log
}): MerklePaths {
  return async (leaf, root, signal) => {
    const { leafIndex } = leaf
    try {
      return check(leaf, root, await deps.indexer.siblings(leafIndex, root.size, signal))
    } catch (err) {
      if (signal.aborted) throw err
      deps.report({ event: 'indexer.failed', err })
      return check(leaf, root, await deps.ownTree.siblings(leafIndex, root, signal))
    }
  }
}

function check(
  { leafIndex, ...transfer }: TreeLeaf,
  root: ProvedRoot,
  siblings: readonly bigint[],
): readonly bigint[] {
  if (rootOfPath(transferLeaf(2, transfer), Number(leafIndex), siblings) === root.root) return siblings
  throw new SvcError('path_mismatch', 'the path of a leaf does not lead to the proved root')
}
