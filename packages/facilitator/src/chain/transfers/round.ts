/** One round over the token's transfers: follow, account for what was found, forget, count. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Clock } from '../../payment/ports.js'
import type { AccountTransfers } from './account.js'
import type { Follow } from './follow.js'
import type { IssuedStore } from './issued-store.js'
import type { StuckCount } from './stuck.js'

export type FollowedRound = {
  /** The payments whose burns were recorded. */
  readonly recorded: readonly ChallengeNonce[]
  /** True when the newest block that is deep enough was reached, and no address is left to look at now. */
  readonly isDone: boolean
  readonly failures: readonly unknown[]
}

/**
 * Runs every stage, each as far as it gets: a chain that cannot be read does not stop the accounting, and the
 * other way round. Throws only when the signal aborts or the store refuses.
 */
export type TransferRound = (signal: AbortSignal) => Promise<FollowedRound>

export function createTransferRound(deps: {
  readonly store: Pick<IssuedStore, 'due' | 'forget'>
  readonly follow: Pick<Follow, 'round'>
  readonly account: Pick<AccountTransfers, 'round' | 'matter'>
  readonly stuckCount: Pick<StuckCount, 'refresh'>
  readonly clock: Pick<Clock, 'now'>
  /** How long an issued address is remembered. */
  readonly retentionSeconds: number
  readonly addressesForgottenAtOnce: number
}): TransferRound {
  const { store, follow, account, stuckCount } = deps
  const nowSeconds = () => deps.clock.now() / 1000

  return async (signal) => {
    const failures: unknown[] = []
    const attempt = async <T>(stage: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await stage()
      } catch (error) {
        signal.throwIfAborted()
        failures.push(error)
        return undefined
      }
    }
    const followed = await attempt(() => follow.round(signal))
    const accounted = await attempt(() => account.round(signal))
    await attempt(() => {
      const issuedBefore = Math.floor(nowSeconds() - deps.retentionSeconds)
      return store.forget(issuedBefore, deps.addressesForgottenAtOnce, account.matter)
    })
    await attempt(() => stuckCount.refresh())
    const [due] = await store.due(Math.floor(nowSeconds()), 1)
    return {
      recorded: accounted?.recorded ?? [],
      isDone: followed === 'followed' && due === undefined,
      failures: [...failures, ...(accounted?.failures ?? [])],
    }
  }
}
