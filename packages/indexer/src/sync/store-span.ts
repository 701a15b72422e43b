import { limits } from '../limits.js'
import type { ChainedTransfer, Database } from '../store/database.js'
import type { SyncedBlock } from '../store/record.js'

/** Writes whole blocks, some at a time, so that a long span survives a kill in its middle. */
export async function storeSpan(
  database: Database,
  span: { transfers: readonly ChainedTransfer[]; last: SyncedBlock; isVerified: boolean },
): Promise<void> {
  const { transfers, last, isVerified } = span
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

const blockAfter = ({ blockNumber, blockHash, index, hashChain }: ChainedTransfer): SyncedBlock => ({
  number: blockNumber,
  hash: blockHash,
  size: index + 1,
  hashChain,
})
