/** The mint schedule in the store: a delay once drawn outlives a restart. No event speaks of it. */
import { backOffMs, type ChallengeNonce } from '@svc-zerc20/protocol'
import type { MintSchedule, Turn } from '../../payment/finalize/schedule.js'
import type { Clock } from '../../payment/ports.js'
import { hexOf, key, list, type Step, sql } from '../sql.js'
import type { PlannedTurn } from '../steps/schedule-steps.js'
import type { Store } from '../store.js'

function* turnsOf(nonces: readonly ChallengeNonce[]): Step<ReadonlyMap<ChallengeNonce, PlannedTurn>> {
  const rows = yield sql`
    SELECT nonce, due_at_ms, rest_until_ms, failures FROM mint_turn WHERE nonce IN ${list(nonces.map(key))}`
  return new Map(
    rows.map((row) => [
      hexOf(row.nonce) as ChallengeNonce,
      { dueAtMs: row.due_at_ms, restUntilMs: row.rest_until_ms, failures: row.failures },
    ]),
  )
}

const unplanned: PlannedTurn = { dueAtMs: 0, restUntilMs: 0, failures: 0 }

export function createMintSchedule(deps: {
  readonly store: Pick<Store, 'ask' | 'change'>
  readonly clock: Pick<Clock, 'now'>
  /** Milliseconds that a mint is held back after its burn is first seen, so that its time does not tell which burn it is. */
  readonly delayMs: () => number
  /** Pauses after a failure: the first, and the longest. */
  readonly retryMs: { readonly first: number; readonly max: number }
}): MintSchedule {
  const { clock, retryMs } = deps
  const { ask, change } = deps.store
  const turnOf = async (nonce: ChallengeNonce) => (await ask(turnsOf([nonce]))).get(nonce)
  const plan = (nonce: ChallengeNonce, turn: PlannedTurn) => change('planTurn', nonce, turn)

  function stateOf({ dueAtMs, restUntilMs }: PlannedTurn): Turn {
    if (clock.now() < dueAtMs) return 'delayed'
    return clock.now() < restUntilMs ? 'resting' : 'due'
  }

  return {
    async turns(nonces) {
      const known = await ask(turnsOf(nonces))
      const missing = nonces.filter((nonce) => !known.has(nonce))
      const drawn = missing.map((nonce) => ({ nonce, dueAtMs: clock.now() + deps.delayMs() }))
      if (drawn.length > 0) await change('drawDelays', drawn)
      const all = drawn.length > 0 ? await ask(turnsOf(nonces)) : known
      return nonces.map((nonce) => stateOf(all.get(nonce) ?? unplanned))
    },
    async isResting(nonce) {
      return clock.now() < ((await turnOf(nonce))?.restUntilMs ?? 0)
    },
    failures: async (nonce) => (await turnOf(nonce))?.failures ?? 0,
    async failed(nonce) {
      const known = (await turnOf(nonce)) ?? unplanned
      const failures = known.failures + 1
      const restUntilMs = clock.now() + backOffMs(failures, retryMs.first, retryMs.max)
      await plan(nonce, { ...known, restUntilMs, failures })
    },
    async succeeded(nonce) {
      const known = await turnOf(nonce)
      if (known && known.failures > 0) await plan(nonce, { ...unplanned, dueAtMs: known.dueAtMs })
    },
    hasten: (nonce) => plan(nonce, unplanned),
    forget: (nonce) => change('forgetTurn', nonce),
  }
}
