/** The sync as a loop that never gives up. */
import { backOffMs, type Clock, SvcError } from '@svc-zerc20/protocol'
import type { Chain, VerifierState } from '../chain/chain.js'
import type { Log } from '../events.js'
import { codeOf, sentenceOf } from '../failure.js'
import { limits } from '../limits.js'
import type { Database } from '../store/database.js'
import { createSync } from './sync.js'

/** Throws `SvcError('wrong_chain')` when the node is on another chain. */
export async function assertChain(chain: Chain, expected: number): Promise<void> {
  const found = await chain.chainId()
  if (found !== expected) {
    throw new SvcError('wrong_chain', `the node is on chain ${found}, the indexer on ${expected}`)
  }
}

const defaultPollMs = 1_000

export type Follower = {
  run(): Promise<void>
  view(): { verifierState: VerifierState | undefined; error: string | undefined }
}

/** Steps the sync until it is stopped. A failure is logged, shown and tried again. */
export function createFollower(deps: {
  chainId: number
  chain: Chain
  database: Database
  confirmations?: number
  pollMs?: number
  clock: Clock
  log: Log
  signal: AbortSignal
}): Follower {
  const { chainId, chain, database, clock, log, signal } = deps
  const { confirmations = 0, pollMs = defaultPollMs } = deps
  const sync = createSync({ chain, database, confirmations, log })
  let isRightChain = false
  let failures = 0
  let error: string | undefined
  let verifierState: VerifierState | undefined

  async function poll(): Promise<number> {
    try {
      if (!isRightChain) await assertChain(chain, chainId)
      isRightChain = true
      const outcome = await sync.step()
      failures = 0
      error = undefined
      if (outcome === 'moved') return 0
    } catch (failure) {
      if (signal.aborted) return 0
      failures += 1
      const retryMs = backOffMs(failures, pollMs, limits.backoffMaxMs)
      error = sentenceOf(failure)
      log({ event: 'sync.failed', code: codeOf(failure), err: failure, retryMs })
      return retryMs
    }
    // An unknown state has its own value in /status, and is no reason to stop.
    verifierState = await chain.verifierNow().catch(() => undefined)
    return pollMs
  }

  return {
    async run() {
      while (!signal.aborted) await clock.sleep(await poll(), signal)
    },
    view: () => ({ verifierState, error }),
  }
}
