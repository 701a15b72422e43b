/**
 * Follows the token's transfers from block to block and keeps those to issued addresses that nobody accounted for.
 *
 * The indexer is asked first and not believed: the token's hash chain over what it told must be the one on the chain,
 * so it can leave out and change nothing, and each transfer to one of our addresses is read from its receipt. When it
 * is down, behind or lying, the token's logs are read instead.
 */

import { type Address, SvcError } from '@svc-zerc20/protocol'
import { type Generation, nextHashChain } from '@svc-zerc20/zk'
import type { Checkpoint, FollowedBlock, IssuedStore } from '../addresses/issued/store.js'
import type { ClaimedLeaf, Indexer } from '../chain/indexer.js'
import type { Ledger } from '../payment/ledger-port.js'
import type { Clock } from '../payment/ports.js'
import type { Challenge } from '../payment/records.js'
import type { FollowEvent } from '../telemetry/reports.js'
import { checkpointsOf, withCheckpoints } from './checkpoints.js'
import type { PlacedTransfer, TokenBlock, TokenChain, TokenState } from './token-chain.js'

export type Follow = {
  /**
   * Follows to the newest block that is deep enough. `unfinished` when there is more to read: a reorg took what was
   * followed. Throws when the chain cannot be read; the next try goes on.
   */
  round(signal: AbortSignal): Promise<'followed' | 'unfinished'>
  /** The last block that was followed. */
  followedBlock(): number
}

export function createFollow(deps: {
  readonly store: IssuedStore
  readonly ledger: Pick<Ledger, 'find'>
  /** Every address that was issued up to now is in the store when it resolves. */
  readonly durable: () => Promise<void>
  readonly chain: TokenChain
  readonly indexer: Pick<Indexer, 'transfersFrom'>
  readonly generation: Generation
  /** A block at or before the token's first transfer. */
  readonly deployedBlock: number
  /** Blocks, its own included, that must hold a transfer before it counts. */
  readonly depth: number
  readonly clock: Pick<Clock, 'now'>
  readonly report: (event: FollowEvent) => void
  readonly limits: {
    readonly transfersPerPage: number
    /** After it failed, the indexer is asked again in this many rounds. */
    readonly indexerRestRounds: number
  }
}): Follow {
  const { store, ledger, chain, report, limits } = deps
  let followed = 0
  let indexerRest = 0
  let isIndexerDown = false

  async function start(target: TokenBlock): Promise<FollowedBlock> {
    const known = await store.followed()
    if (known) return known
    // Nothing was issued yet: nobody can have paid to it.
    return (await beforeFirst()) ?? target
  }

  async function beforeFirst(): Promise<Checkpoint | undefined> {
    const first = await store.firstBlock()
    return first === undefined ? undefined : { number: Math.max(deps.deployedBlock, Number(first)) - 1 }
  }

  /** Goes on from the newest block below that is still on the chain. Whatever is read twice is kept once. */
  async function rewind(known: FollowedBlock): Promise<'unfinished'> {
    const older = checkpointsOf(known).filter(({ number }) => number < known.number)
    const from = await newestOnChain(older)
    const start = from ?? (await beforeFirst()) ?? { number: deps.deployedBlock - 1 }
    await store.dropTransfersAfter(start.number)
    await store.setFollowed({ ...start, earlier: older.filter(({ number }) => number < start.number) })
    report({ event: 'follow.reorged', block: known.number, from: start.number })
    return 'unfinished'
  }

  async function newestOnChain(checkpoints: readonly Checkpoint[]): Promise<Checkpoint | undefined> {
    for (const checkpoint of checkpoints) if (await isOnChain(checkpoint)) return checkpoint
    return undefined
  }

  /** Throws `SvcError('node_behind')` when the node has no such block: then nothing is known. */
  async function isOnChain({ number, hash }: Checkpoint): Promise<boolean> {
    if (hash === undefined) return true
    const block = await chain.block(number)
    if (!block) throw new SvcError('node_behind', `the node has no block ${number}`)
    return block.hash === hash
  }

  async function advance(block: Checkpoint): Promise<void> {
    await store.setFollowed(withCheckpoints(await store.followed(), block))
    followed = block.number
  }

  /** The token as it was after a block, where the node still knows that. */
  async function stateAfter({ number, token }: FollowedBlock): Promise<TokenState | undefined> {
    if (token) return token
    if (number < 0) return { size: 0n, hashChain: 0n }
    try {
      const block = await chain.block(number)
      return block && (await chain.tokenAt(block.hash))
    } catch {
      // Most nodes drop old states. The logs are contiguous, or it is noticed.
      return undefined
    }
  }

  async function takeAll<T extends { readonly to: Address }>(
    transfers: readonly T[],
    toPlaced: (transfer: T) => Promise<PlacedTransfer>,
  ): Promise<void> {
    const addresses = [...new Set(transfers.map(({ to }) => to))]
    const challenges = await store.find(addresses)
    const issued = new Map(addresses.map((address, i) => [address, challenges[i]]))
    for (const transfer of transfers) {
      const challenge = issued.get(transfer.to)
      if (challenge) await take(challenge, await toPlaced(transfer))
    }
  }

  async function take(challenge: Challenge, transfer: PlacedTransfer): Promise<void> {
    const { to, ...burn } = transfer
    const { accepted } = (await ledger.find(challenge.nonce)) ?? {}
    const isAccounted = accepted?.burn.txHash === burn.txHash && accepted.burn.leafIndex === burn.leafIndex
    if (isAccounted) return
    const block = await chain.block(Number(burn.blockNumber))
    if (block?.hash !== burn.blockHash) throw moved(burn.blockNumber)
    const now = Math.floor(deps.clock.now() / 1000)
    const outcome = await store.putTransfer(to, { ...burn, minedAt: block.time }, now)
    if (outcome === 'full') {
      report({ event: 'follow.dust', challengeNonce: challenge.nonce, txHash: burn.txHash })
    }
  }

  async function confirmed(claimed: ClaimedLeaf): Promise<PlacedTransfer> {
    const transfer = await chain.confirm(claimed)
    if (transfer) return transfer
    throw new SvcError(
      'indexer_failed',
      `the chain has no transfer ${claimed.leafIndex} as the indexer tells it`,
    )
  }

  async function byIndexer(from: TokenState, to: TokenState, signal: AbortSignal): Promise<void> {
    let { size, hashChain } = from
    while (size < to.size) {
      signal.throwIfAborted()
      const left = to.size - size
      const count = left < BigInt(limits.transfersPerPage) ? Number(left) : limits.transfersPerPage
      const page = (await deps.indexer.transfersFrom(size, count, signal)).slice(0, count)
      if (page.length === 0) throw new SvcError('indexer_failed', `the indexer has no transfer ${size} yet`)
      for (const transfer of page) {
        if (transfer.leafIndex !== size) throw new SvcError('indexer_failed', `transfer ${size} is left out`)
        hashChain = nextHashChain(deps.generation, hashChain, transfer)
        size += 1n
      }
      await takeAll(page, confirmed)
    }
    if (hashChain !== to.hashChain) {
      throw new SvcError('indexer_failed', "the indexer's transfers do not lead to the token's hash chain")
    }
  }

  async function byLogs(
    from: FollowedBlock,
    before: TokenState | undefined,
    target: TokenBlock,
    signal: AbortSignal,
  ): Promise<void> {
    let state: Running | undefined = before
    for await (const { transfers, lastBlock } of chain.transfers(from.number + 1, target.number)) {
      signal.throwIfAborted()
      for (const transfer of transfers) {
        if (transfer.blockNumber === BigInt(target.number) && transfer.blockHash !== target.hash) {
          throw moved(transfer.blockNumber)
        }
        state = afterNext(state ?? { size: transfer.leafIndex }, transfer)
      }
      await takeAll(transfers, async (transfer) => transfer)
      if (lastBlock < target.number) await advance(await placeAt(lastBlock, state))
    }
    if (state && state.size !== target.token.size) throw gap(state.size, target.token.size)
    if (state?.hashChain !== undefined && state.hashChain !== target.token.hashChain) {
      throw new SvcError('hash_chain_mismatch', "the logs do not lead to the token's hash chain")
    }
  }

  async function placeAt(number: number, { size, hashChain }: Partial<Running> = {}): Promise<Checkpoint> {
    const block = await chain.block(number)
    if (!block) throw new SvcError('node_behind', `the node has no block ${number}`)
    const isKnown = size !== undefined && hashChain !== undefined
    return { number, hash: block.hash, ...(isKnown && { token: { size, hashChain } }) }
  }

  function afterNext({ size, hashChain }: Running, transfer: PlacedTransfer): Running {
    if (transfer.leafIndex !== size) throw gap(size, transfer.leafIndex)
    const next = { size: size + 1n }
    return hashChain === undefined
      ? next
      : { ...next, hashChain: nextHashChain(deps.generation, hashChain, transfer) }
  }

  async function read(from: FollowedBlock, target: TokenBlock, signal: AbortSignal): Promise<void> {
    const before = await stateAfter(from)
    if (before && before.size === target.token.size && before.hashChain === target.token.hashChain) return
    if (before && indexerRest === 0) {
      try {
        await byIndexer(before, target.token, signal)
        isIndexerDown = false
        return
      } catch (err) {
        if (signal.aborted || !(err instanceof SvcError) || err.code !== 'indexer_failed') throw err
        if (!isIndexerDown) report({ event: 'follow.indexer_failed', err })
        isIndexerDown = true
        indexerRest = limits.indexerRestRounds
      }
    } else if (indexerRest > 0) indexerRest -= 1
    await byLogs(from, before, target, signal)
  }

  return {
    async round(signal) {
      const target = await chain.deepBlock(deps.depth)
      // Not before: who was paid up to that block was issued by now.
      await deps.durable()
      const from = await start(target)
      followed = from.number
      if (!(await isOnChain(from))) return rewind(from)
      if (target.number < from.number) return 'followed'
      if (from.token && target.token.size < from.token.size) return rewind(from)
      try {
        await read(from, target, signal)
      } catch (err) {
        // What was read does not fit what came before: either is wrong, and both are read again.
        if (err instanceof SvcError && doubtful.has(err.code)) await rewind(from)
        throw err
      }
      await advance(target)
      return 'followed'
    },
    followedBlock: () => followed,
  }
}

/** The token while its logs are read. Where the node could not tell its hash chain, only its size is known. */
type Running = { readonly size: bigint; readonly hashChain?: bigint }

const doubtful = new Set(['transfers_not_contiguous', 'hash_chain_mismatch'])

const gap = (expected: bigint, found: bigint) =>
  new SvcError('transfers_not_contiguous', `the node's logs go from transfer ${expected} to ${found}`)

const moved = (block: bigint) => new SvcError('block_moved', `block ${block} was replaced while it was read`)
