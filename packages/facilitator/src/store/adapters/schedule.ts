/** The mint schedule in the store: a delay once drawn outlives a restart. */
import type { Clock } from '@svc-zerc20/protocol'
import type { MintSchedule } from '../../payment/finalize/ports.js'
import { first, key, sql } from '../sql.js'
import type { Store } from '../store.js'

/** Payments whose delays are drawn in one look. Further payments get theirs in the next look. */
const drawnAtOnce = 500

export function createMintSchedule(deps: {
  readonly store: Pick<Store, 'ask' | 'change'>
  readonly clock: Pick<Clock, 'now'>
  /** Milliseconds that a mint is held back after its burn is first seen, so that its time does not tell which burn it is. */
  readonly delayMs: () => number
  /** Pauses after a failure: the first, and the longest. */
  readonly retryMs: { readonly first: number; readonly max: number }
}): MintSchedule {
  const { clock, delayMs, retryMs } = deps
  const { ask, change } = deps.store
  return {
    plan(countMax) {
      const delaysMs = Array.from({ length: drawnAtOnce }, delayMs)
      return change('planMints', clock.now(), delaysMs, countMax)
    },
    async failuresOf(nonce) {
      const row = await ask(
        first(sql`SELECT failures, rest_until_ms FROM mint_schedule WHERE nonce = ${key(nonce)}`),
      )
      return { count: row?.failures ?? 0, isResting: clock.now() < (row?.rest_until_ms ?? 0) }
    },
    failed: (nonce) => change('mintFailed', nonce, clock.now(), retryMs),
    succeeded: (nonce) => change('mintSucceeded', nonce),
    mintNow: (nonce) => change('mintNow', nonce),
    forget: (nonce) => change('forgetMint', nonce),
  }
}
