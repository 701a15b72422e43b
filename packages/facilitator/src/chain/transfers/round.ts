/** Rounds over the token's transfers: follow, account for what was found, forget, count. */
import { backOffMs, type ChallengeNonce } from '@svc-zerc20/protocol'
import { type Loop, startLoop } from '../../payment/loop.js'
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

/** Runs one round a period, later and later while they fail. */
export function startTransferLoop(deps: {
  readonly round: TransferRound
  readonly clock: Clock
  readonly periodMs: number
  /** Failures never make the loop slower than this. */
  readonly backOffMaxMs: number
  readonly onFailure: (err: unknown) => void
}): Loop {
  const { periodMs, backOffMaxMs } = deps
  let failures = 0
  return startLoop(deps.clock, async (signal) => {
    const err = await failureOf(deps.round, signal)
    failures = err === undefined ? 0 : failures + 1
    if (err !== undefined && !signal.aborted) deps.onFailure(err)
    return failures === 0 ? periodMs : backOffMs(failures, periodMs, backOffMaxMs)
  })
}

/** Runs one round. Several failures of a round are told as one. */
async function failureOf(round: TransferRound, signal: AbortSignal): Promise<unknown> {
  try {
    const [first, ...more] = (await round(signal)).failures
    return more.length === 0
      ? first
      : new AggregateError([first, ...more], `${first}, and ${more.length} more`)
  } catch (err) {
    return err
  }
}
