/** Reported transfers → checked transfers: without a gap, and with the hash chain that the token has. */
import { type ErrorCode, SvcError } from '@svc-zerc20/protocol'
import { nextHashChain } from '@svc-zerc20/zk'
import type { BlockRef, Chain } from '../chain/chain.js'
import type { ReportedTransfer } from '../chain/transfer.js'
import type { ChainedTransfer, SyncedBlock } from '../store/database.js'

/**
 * Adds the hash chain after each transfer. Indices must go on where the head ended, and the last block must
 * be the end.
 */
export function chainTransfers(
  head: SyncedBlock,
  logs: readonly ReportedTransfer[],
  end: BlockRef,
): ChainedTransfer[] {
  let { size, hashChain } = head
  const transfers = logs.map((log) => {
    if (log.index !== size || log.blockNumber <= head.number) {
      throw new SvcError(
        'transfers_not_contiguous',
        `block ${log.blockNumber}: expected transfer ${size}, the node reported ${log.index}`,
      )
    }
    size += 1
    hashChain = nextHashChain(2, hashChain, log)
    return { ...log, hashChain }
  })
  const last = logs.at(-1)
  if (last?.blockNumber === end.number && last.blockHash !== end.hash) {
    throw new SvcError('block_moved', `block ${end.number} was replaced while it was read`)
  }
  return transfers
}

/** Asks the token itself, in that very block, for its count and its hash chain. */
export async function compareWithToken(chain: Chain, last: SyncedBlock): Promise<void> {
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

const doubtful = new Set<ErrorCode>([
  'rpc_error',
  'transfers_not_contiguous',
  'token_index_mismatch',
  'hash_chain_mismatch',
  'block_moved',
])

/** Whether a reorg in the middle of a step can cause this error. */
export const isDoubtful = (error: unknown): error is SvcError =>
  error instanceof SvcError && doubtful.has(error.code)
