/**
 * Follows the token's transfers from block to block, by its logs, and keeps those to issued addresses that nobody accounted
 * for. The indices of the logs must be contiguous, and where the hash chain before them is known they must lead to the
 * token's own: a node can leave nothing out.
 */
import { type Clock, type ErrorCode, SvcError } from '@svc-zerc20/protocol'
import { nextHashChain } from '@svc-zerc20/zk'
import type { Payment } from '../../payment/records.js'
import type { Log } from '../../telemetry/events.js'
import { type Cursor, createCursor } from './cursor.js'
import type { Checkpoint, FollowedBlock, IssuedStore } from './issued-store.js'
import type { PlacedTransfer, TokenBlock, TokenChain, TokenState } from './token-chain.js'

export type Follow = ReturnType<typeof createFollow>

export type FollowDeps = {
  readonly store: IssuedStore
  readonly chain: TokenChain
  /** A block at or before the token's first transfer. */
  readonly deployedBlock: number
  /** Blocks, its own included, that must hold a transfer before it counts. */
  readonly depth: number
  readonly clock: Pick<Clock, 'now'>
  readonly report: Log
}

export function createFollow(deps: FollowDeps) {
  const { chain } = deps
  const cursor = createCursor(deps)
  const read = createRead(deps, cursor)
  return {
    /**
     * Follows to the newest block that is deep enough. `unfinished` when there is more to read, because a reorg took what
     * was followed. Throws when the chain cannot be read; the next try goes on.
     */
    async round(signal: AbortSignal): Promise<'followed' | 'unfinished'> {
      const target = await chain.deepBlock(deps.depth)
      const from = await cursor.start(target)
      if (!(await cursor.isOnChain(from))) return rewound(from)
      if (target.number < from.number) return 'followed'
      if (from.token && target.token.size < from.token.size) return rewound(from)
      try {
        await read(from, target, signal)
      } catch (err) {
        if (isInconsistent(err)) await cursor.rewind(from)
        throw err
      }
      await cursor.advance(target)
      return 'followed'
    },
  }

  async function rewound(from: FollowedBlock): Promise<'unfinished'> {
    await cursor.rewind(from)
    return 'unfinished'
  }
}

/** The token while its logs are read. Only its size is known where the node could not tell its hash chain. */
type Running = { readonly size: bigint; readonly hashChain?: bigint }

/**
 * Reads the blocks after `from` up to `target`, and moves the cursor along. Throws an error that `isInconsistent` when the logs
 * fit neither the state before them nor the token in `target`.
 */
function createRead(
  deps: FollowDeps,
  cursor: Pick<Cursor, 'advance'>,
): (from: FollowedBlock, target: TokenBlock, signal: AbortSignal) => Promise<void> {
  const { chain } = deps
  const keep = createKeepTransfers(deps)

  async function checkpointAt(number: number, { size, hashChain }: Partial<Running>): Promise<Checkpoint> {
    const block = await chain.block(number)
    if (!block) throw new SvcError('node_behind', `the node has no block ${number}`)
    const isKnown = size !== undefined && hashChain !== undefined
    return { number, hash: block.hash, ...(isKnown && { token: { size, hashChain } }) }
  }

  return async (from, target, signal) => {
    const before = await stateAfter(chain, from)
    if (before && before.size === target.token.size && before.hashChain === target.token.hashChain) return
    let state: Running | undefined = before
    for await (const { transfers, lastBlock } of chain.transfers(from.number + 1, target.number)) {
      signal.throwIfAborted()
      for await (const slice of slicesOf(transfers)) {
        for (const transfer of slice) {
          if (transfer.blockNumber === BigInt(target.number) && transfer.blockHash !== target.hash) {
            throw moved(transfer.blockNumber)
          }
          state = afterNext(state ?? { size: transfer.leafIndex }, transfer)
        }
      }
      await keep(transfers)
      if (lastBlock < target.number) await cursor.advance(await checkpointAt(lastBlock, state ?? {}))
    }
    if (state && state.size !== target.token.size) throw gap(state.size, target.token.size)
    if (state?.hashChain !== undefined && state.hashChain !== target.token.hashChain) {
      throw new SvcError('hash_chain_mismatch', "the logs do not lead to the token's hash chain")
    }
  }
}

function afterNext({ size, hashChain }: Running, transfer: PlacedTransfer): Running {
  if (transfer.leafIndex !== size) throw gap(size, transfer.leafIndex)
  const next = { size: size + 1n }
  return hashChain === undefined ? next : { ...next, hashChain: nextHashChain(2, hashChain, transfer) }
}

const gap = (expected: bigint, found: bigint) =>
  new SvcError('transfers_not_contiguous', `the node's logs go from transfer ${expected} to ${found}`)

const inconsistent = new Set<ErrorCode>(['transfers_not_contiguous', 'hash_chain_mismatch'])

/** The logs contradict the blocks that were followed before: either is wrong, and both have to be read again. */
const isInconsistent = (err: unknown): boolean => err instanceof SvcError && inconsistent.has(err.code)

/** The token's state after a block. Undefined when the node no longer knows it. */
async function stateAfter(
  chain: Pick<TokenChain, 'block' | 'tokenAt'>,
  { number, token }: FollowedBlock,
): Promise<TokenState | undefined> {
  if (token) return token
  if (number < 0) return { size: 0n, hashChain: 0n }
  try {
    const block = await chain.block(number)
    return block && (await chain.tokenAt(block.hash))
  } catch {
    // Most nodes drop old states. The logs alone suffice: a gap in their indices would be noticed.
    return undefined
  }
}

/** Keeps transfers to issued addresses that the ledger has not accepted. */
function createKeepTransfers(deps: FollowDeps): (transfers: readonly PlacedTransfer[]) => Promise<void> {
  const { store, chain } = deps

  async function keep({ challenge, accepted }: Payment, transfer: PlacedTransfer): Promise<void> {
    const { to, ...burn } = transfer
    const isAccounted = accepted?.burn.txHash === burn.txHash && accepted.burn.leafIndex === burn.leafIndex
    if (isAccounted) return
    const block = await chain.block(Number(burn.blockNumber))
    if (block?.hash !== burn.blockHash) throw moved(burn.blockNumber)
    const now = Math.floor(deps.clock.now() / 1000)
    const outcome = await store.putTransfer(to, { ...burn, minedAt: block.time }, now)
    if (outcome === 'full') {
      deps.report({ event: 'follow.dust', challengeNonce: challenge.nonce, txHash: burn.txHash })
    }
  }

  return async (transfers) => {
    for await (const slice of slicesOf(transfers)) {
      const addresses = [...new Set(slice.map(({ to }) => to))]
      const payments = await store.find(addresses)
      const issued = new Map(addresses.map((address, i) => [address, payments[i]]))
      for (const transfer of slice) {
        const payment = issued.get(transfer.to)
        if (payment) await keep(payment, transfer)
      }
    }
  }
}

/** Transfers that are looked at in one turn of the event loop. */
const transfersAtOnce = 64

/** Others have their turn between two slices. */
async function* slicesOf(
  transfers: readonly PlacedTransfer[],
): AsyncGenerator<readonly PlacedTransfer[], void> {
  for (let from = 0; from < transfers.length; from += transfersAtOnce) {
    if (from > 0) await new Promise<void>((resolve) => setImmediate(resolve))
    yield transfers.slice(from, from + transfersAtOnce)
  }
}

const moved = (block: bigint) => new SvcError('block_moved', `block ${block} was replaced while it was read`)
