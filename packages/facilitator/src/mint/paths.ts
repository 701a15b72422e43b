/**
 * Merkle paths under proved roots. The indexer is asked first, and its answer is hashed up to the root on the
 * chain. If the indexer is down, behind or lying, our own tree from the token's logs answers instead.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { rootOfPath, transferLeaf } from '@svc-zerc20/zk'
import type { Indexer } from '../chain/indexer.js'
import type { ProvedRoot } from '../payment/finalize/ports.js'
import type { AwaitingMint } from '../payment/records.js'
import type { PathEvent } from '../telemetry/reports.js'
import type { OwnTree } from './own-tree.js'

/** Siblings from the leaf upwards; they lead from this burn's leaf to the root. */
export type MerklePaths = (
  payment: AwaitingMint,
  root: ProvedRoot,
  signal: AbortSignal,
) => Promise<readonly bigint[]>

export function createMerklePaths(deps: {
  readonly indexer: Indexer
  readonly ownTree: OwnTree
  readonly report: (event: PathEvent) => void
}): MerklePaths {
  return async (payment, root, signal) => {
    const { leafIndex } = payment.burn
    try {
      return check(payment, root, await deps.indexer.siblings(leafIndex, root.size, signal))
    } catch (err) {
      if (signal.aborted) throw err
      deps.report({ event: 'indexer.failed', err })
      return check(payment, root, await deps.ownTree.siblings(leafIndex, root, signal))
    }
  }
}

function check(
  { challenge, burn }: AwaitingMint,
  root: ProvedRoot,
  siblings: readonly bigint[],
): readonly bigint[] {
  const leaf = transferLeaf(2, { from: burn.from, to: challenge.payTo, value: burn.value })
  if (rootOfPath(leaf, Number(burn.leafIndex), siblings) === root.root) return siblings
  throw new SvcError('path_mismatch', 'the path of a leaf does not lead to the proved root')
}
