/**
 * Transfers as the token's logs have them. Their indices must be contiguous, and where the hash chain before them is
 * known they must lead to the token's own.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { type Generation, nextHashChain } from '@svc-zerc20/zk'
import type { Cursor } from './cursor.js'
import type { Checkpoint, FollowedBlock } from './issued-store.js'
import { moved, type TakeTransfers } from './take.js'
import type { PlacedTransfer, TokenBlock, TokenChain, TokenState } from './token-chain.js'

/**
 * Reads the blocks after `from` up to `target`, and moves the cursor along. `before` is the token after `from`;
 * undefined where the node has dropped that state. Throws an error that `isDoubtful` when the logs fit neither the
 * state before them nor the token in `target`.
 */
export type ReadByLogs = (
  from: FollowedBlock,
  before: TokenState | undefined,
  target: TokenBlock,
  signal: AbortSignal,
) => Promise<void>

/** The token while its logs are read. Only its size is known where the node could not tell its hash chain. */
type Running = { readonly size: bigint; readonly hashChain?: bigint }

export function createReadByLogs(deps: {
  readonly chain: Pick<TokenChain, 'block' | 'transfers'>
  readonly cursor: Pick<Cursor, 'advance'>
  readonly take: TakeTransfers
  readonly generation: Generation
}): ReadByLogs {
  const { chain, generation } = deps

  async function checkpointAt(number: number, { size, hashChain }: Partial<Running>): Promise<Checkpoint> {
    const block = await chain.block(number)
    if (!block) throw new SvcError('node_behind', `the node has no block ${number}`)
    const isKnown = size !== undefined && hashChain !== undefined
    return { number, hash: block.hash, ...(isKnown && { token: { size, hashChain } }) }
  }

  return async (from, before, target, signal) => {
    let state: Running | undefined = before
    for await (const { transfers, lastBlock } of chain.transfers(from.number + 1, target.number)) {
      signal.throwIfAborted()
      for (const transfer of transfers) {
        if (transfer.blockNumber === BigInt(target.number) && transfer.blockHash !== target.hash) {
          throw moved(transfer.blockNumber)
        }
        state = afterNext(generation, state ?? { size: transfer.leafIndex }, transfer)
      }
      await deps.take(transfers, async (transfer) => transfer)
      if (lastBlock < target.number) await deps.cursor.advance(await checkpointAt(lastBlock, state ?? {}))
    }
    if (state && state.size !== target.token.size) throw gap(state.size, target.token.size)
    if (state?.hashChain !== undefined && state.hashChain !== target.token.hashChain) {
      throw new SvcError('hash_chain_mismatch', "the logs do not lead to the token's hash chain")
    }
  }
}

function afterNext(generation: Generation, { size, hashChain }: Running, transfer: PlacedTransfer): Running {
  if (transfer.leafIndex !== size) throw gap(size, transfer.leafIndex)
  const next = { size: size + 1n }
  return hashChain === undefined
    ? next
    : { ...next, hashChain: nextHashChain(generation, hashChain, transfer) }
}

const gap = (expected: bigint, found: bigint) =>
  new SvcError('transfers_not_contiguous', `the node's logs go from transfer ${expected} to ${found}`)

const doubtful = new Set(['transfers_not_contiguous', 'hash_chain_mismatch'])

/** The logs contradict the blocks that were followed before: either is wrong, and both have to be read again. */
export const isDoubtful = (err: unknown): boolean => err instanceof SvcError && doubtful.has(err.code)
