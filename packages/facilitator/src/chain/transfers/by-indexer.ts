/**
 * Transfers as the indexer tells them. The token's hash chain over them must be the one on the chain, so the indexer
 * can leave out and change nothing; each transfer to one of our addresses is read from its receipt.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { type Generation, nextHashChain } from '@svc-zerc20/zk'
import type { ClaimedLeaf, Indexer } from '../indexer.js'
import type { TakeTransfers } from './take.js'
import type { PlacedTransfer, TokenChain, TokenState } from './token-chain.js'

/** Reads the transfers between two states. Throws `SvcError('indexer_failed')` when the indexer is no help. */
export type ReadByIndexer = (from: TokenState, to: TokenState, signal: AbortSignal) => Promise<void>

export function createReadByIndexer(deps: {
  readonly indexer: Pick<Indexer, 'transfersFrom'>
  readonly chain: Pick<TokenChain, 'confirm'>
  readonly take: TakeTransfers
  readonly generation: Generation
  readonly transfersPerPage: number
}): ReadByIndexer {
  async function confirmed(claimed: ClaimedLeaf): Promise<PlacedTransfer> {
    const transfer = await deps.chain.confirm(claimed)
    if (transfer) return transfer
    throw failed(`the chain has no transfer ${claimed.leafIndex} as the indexer tells it`)
  }

  return async (from, to, signal) => {
    let { size, hashChain } = from
    while (size < to.size) {
      signal.throwIfAborted()
      const left = to.size - size
      const count = left < BigInt(deps.transfersPerPage) ? Number(left) : deps.transfersPerPage
      const page = (await deps.indexer.transfersFrom(size, count, signal)).slice(0, count)
      if (page.length === 0) throw failed(`the indexer has no transfer ${size} yet`)
      for (const transfer of page) {
        if (transfer.leafIndex !== size) throw failed(`transfer ${size} is left out`)
        hashChain = nextHashChain(deps.generation, hashChain, transfer)
        size += 1n
      }
      await deps.take(page, confirmed)
    }
    if (hashChain !== to.hashChain) {
      throw failed("the indexer's transfers do not lead to the token's hash chain")
    }
  }
}

const failed = (message: string) => new SvcError('indexer_failed', message)
