/** Rounds over the token's transfers: follow, account for what was found, forget, count. */
import { backOffMs, type Clock } from '@svc-zerc20/protocol'
import { type Loop, startLoop } from '../../payment/loop.js'
import type { AccountForTransfers } from './account-for.js'
import type { Follow } from './follow.js'
import type { IssuedStore } from './issued-store.js'
import type { StuckCount } from './stuck.js'

/**
 * Runs every part, each as far as it gets: a chain that cannot be read does not stop the accounting, and the
 * other way round. Returns what failed. Throws only when the signal aborts.
 */
export type TransferRound = (signal: AbortSignal) => Promise<readonly unknown[]>

export function createTransferRound(deps: {
  readonly store: Pick<IssuedStore, 'forget'>
  readonly follow: Pick<Follow, 'round'>
  readonly accountFor: AccountForTransfers
  readonly stuckCount: Pick<StuckCount, 'refresh'>
  readonly clock: Pick<Clock, 'now'>
  /** How long an issued address is remembered. */
  readonly retentionSeconds: number
  readonly addressesForgottenAtOnce: number
  /** Less than this is not worth a mint. */
  readonly dustBelow: bigint
}): TransferRound {
  const { store, follow, accountFor, stuckCount } = deps
  return async (signal) => {
    const failures: unknown[] = []
    const attempt = async (part: () => Promise<unknown>): Promise<void> => {
      try {
        await part()
      } catch (error) {
        signal.throwIfAborted()
        failures.push(error)
      }
    }
    await attempt(() => follow.round(signal))
    await attempt(async () => failures.push(...(await accountFor.round(signal))))
    await attempt(() => {
      const issuedBefore = Math.floor(deps.clock.now() / 1000 - deps.retentionSeconds)
      return store.forget(issuedBefore, deps.addressesForgottenAtOnce, deps.dustBelow)
    })
    await attempt(() => stuckCount.refresh())
    return failures
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
    const [first, ...more] = await round(signal)
    return more.length === 0
      ? first
      : new AggregateError([first, ...more], `${first}, and ${more.length} more`)
  } catch (err) {
    return err
  }
}
