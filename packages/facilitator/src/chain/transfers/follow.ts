/**
 * Follows the token's transfers from block to block and keeps those to issued addresses that nobody accounted for. The
 * indexer is asked first; when it is down, behind or lying, the token's logs are read instead.
 */
import { SvcError } from '@svc-zerc20/protocol'
import type { Generation } from '@svc-zerc20/zk'
import type { Ledger } from '../../payment/ledger-port.js'
import type { Clock } from '../../payment/ports.js'
import type { FollowEvent } from '../../telemetry/reports.js'
import type { Indexer } from '../indexer.js'
import { createReadByIndexer } from './by-indexer.js'
import { createReadByLogs, isDoubtful } from './by-logs.js'
import { createCursor } from './cursor.js'
import type { FollowedBlock, IssuedStore } from './issued-store.js'
import { createTakeTransfers } from './take.js'
import type { TokenBlock, TokenChain, TokenState } from './token-chain.js'

export type Follow = {
  /**
   * Follows to the newest block that is deep enough. `unfinished` when there is more to read, because a reorg
   * took what was followed. Throws when the chain cannot be read; the next try goes on.
   */
  round(signal: AbortSignal): Promise<'followed' | 'unfinished'>
  /** The last block that was followed. */
  followedBlock(): number
}

export type FollowDeps = {
  readonly store: IssuedStore
  readonly ledger: Pick<Ledger, 'find'>
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
    /** Rounds in which an indexer that failed is not asked. */
    readonly indexerRestRounds: number
  }
}

export function createFollow(deps: FollowDeps): Follow {
  const { chain } = deps
  const cursor = createCursor(deps)
  const read = createRead(deps, cursor)
  return {
    async round(signal) {
      const target = await chain.deepBlock(deps.depth)
      const from = await cursor.start(target)
      if (!(await cursor.isOnChain(from))) return rewound(from)
      if (target.number < from.number) return 'followed'
      if (from.token && target.token.size < from.token.size) return rewound(from)
      try {
        await read(from, target, signal)
      } catch (err) {
        if (isDoubtful(err)) await cursor.rewind(from)
        throw err
      }
      await cursor.advance(target)
      return 'followed'
    },
    followedBlock: cursor.followedBlock,
  }

  async function rewound(from: FollowedBlock): Promise<'unfinished'> {
    await cursor.rewind(from)
    return 'unfinished'
  }
}

/** Reads the transfers between two blocks, from the indexer while it works and otherwise from the logs. */
function createRead(
  deps: FollowDeps,
  cursor: ReturnType<typeof createCursor>,
): (from: FollowedBlock, target: TokenBlock, signal: AbortSignal) => Promise<void> {
  const { chain, generation, report, limits } = deps
  const take = createTakeTransfers(deps)
  const byIndexer = createReadByIndexer({ ...deps, ...limits, take })
  const byLogs = createReadByLogs({ chain, cursor, take, generation })
  let indexerRest = 0
  let isIndexerDown = false

  /**
   * True when the indexer told all transfers. A failure of the indexer is reported once, and the indexer then
   * rests.
   */
  async function tryIndexer(from: TokenState, to: TokenState, signal: AbortSignal): Promise<boolean> {
    try {
      await byIndexer(from, to, signal)
      isIndexerDown = false
      return true
    } catch (err) {
      if (signal.aborted || !(err instanceof SvcError) || err.code !== 'indexer_failed') throw err
      if (!isIndexerDown) report({ event: 'follow.indexer_failed', err })
      isIndexerDown = true
      indexerRest = limits.indexerRestRounds
      return false
    }
  }

  return async (from, target, signal) => {
    const before = await stateAfter(chain, from)
    if (before && before.size === target.token.size && before.hashChain === target.token.hashChain) return
    if (indexerRest > 0) indexerRest -= 1
    else if (before && (await tryIndexer(before, target.token, signal))) return
    await byLogs(from, before, target, signal)
  }
}

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
