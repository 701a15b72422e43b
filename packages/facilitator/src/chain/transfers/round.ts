/** Rounds over the token's transfers: follow, account for what was found, forget, count. */
import type { Clock } from '@svc-zerc20/protocol'
import type { AccountForTransfers } from './account-for.js'
import type { Follow } from './follow.js'
import type { IssuedStore } from './issued-store.js'
import type { StuckCount } from './stuck.js'

/**
 * Runs every part, each as far as it gets: a chain that cannot be read does not stop the accounting, and the
 * other way round. Throws at the end when anything failed, several failures as one.
 */
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
}): (signal: AbortSignal) => Promise<void> {
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
    const [first, ...more] = failures
    if (more.length > 0) throw new AggregateError(failures, `${first}, and ${more.length} more`)
    if (failures.length > 0) throw first
  }
}
