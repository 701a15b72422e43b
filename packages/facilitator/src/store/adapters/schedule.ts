/** The mint schedule in the store: what was drawn, and the failures, outlive a restart. */
import type { Clock } from '@svc-zerc20/protocol'
import type { Draws, MintSchedule, MintTurn } from '../../payment/finalize/ports.js'
import { first, sql } from '../sql.js'
import { askedOf, turnKey } from '../steps/schedule-steps.js'
import type { Store } from '../store.js'

/** Payments whose delays are drawn in one look. Further payments get theirs in the next look. */
const drawnAtOnce = 500

export function createMintSchedule(deps: {
  readonly store: Pick<Store, 'ask' | 'change'>
  readonly clock: Pick<Clock, 'now'>
  /** Milliseconds that a mint is held back after its burn is first seen, so that its time does not tell which burn it is. */
  readonly delayMs: () => number
  /** In [0, 1). */
  readonly chance: () => number
  /** Pauses after a failure: the first, and the longest. */
  readonly retryMs: { readonly first: number; readonly max: number }
}): MintSchedule {
  const { clock, delayMs, chance, retryMs } = deps
  const { ask, change } = deps.store
  const rowOf = (of: MintTurn) =>
    ask(
      first(
        sql`SELECT due_at_ms, failures, rest_until_ms, draws FROM mint_schedule WHERE turn = ${turnKey(of)}`,
      ),
    )
  return {
    plan(countMax) {
      const delaysMs = Array.from({ length: drawnAtOnce }, delayMs)
      return change('planMints', clock.now(), delaysMs, countMax)
    },
    async turnOf(epoch) {
      const row = await rowOf(epoch)
      // Two draws: the place is published, and must not tell the time at which a batch was complete.
      const draws: Draws = row?.draws ? JSON.parse(row.draws) : { time: chance(), place: chance() }
      if (!row?.draws) await change('drawTurn', epoch, draws)
      const isResting = clock.now() < (row?.rest_until_ms ?? 0)
      return { dueAtMs: row?.due_at_ms ?? undefined, isResting, draws, asked: await ask(askedOf(epoch)) }
    },
    setDue: (epoch, dueAtMs) => change('setMintDue', epoch, dueAtMs ?? null),
    async failuresOf(nonce) {
      const row = await rowOf(nonce)
      return { count: row?.failures ?? 0, isResting: clock.now() < (row?.rest_until_ms ?? 0) }
    },
    failed: (of) => change('mintFailed', of, clock.now(), retryMs),
    succeeded: (nonce) => change('mintSucceeded', nonce),
    mintNow: (nonce) => change('mintNow', nonce),
    forget: (of) => change('forgetMint', of),
  }
}
