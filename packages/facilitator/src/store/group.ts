/**
 * A group of steps as one step, for either engine: each sees what the one before it changed, all in one
 * transaction. Nobody hears of any of them before the transaction is durable.
 */
import { type ChallengeNonce, SvcError, type UnixSeconds } from '@svc-zerc20/protocol'
import { apply, type KeepSigned } from './apply.js'
import type { LedgerEvent } from './events.js'
import { type Fence, leaseLost } from './lease.js'
import type { Keys, Rows } from './rows/rows.js'
import { type Query, type Step, sql } from './sql.js'
import { doubtSteps } from './steps/doubt.js'
import { loginSteps } from './steps/login-steps.js'
import { operatorSteps } from './steps/operator-steps.js'
import { payerSteps } from './steps/payer-steps.js'
import { scheduleSteps } from './steps/schedule-steps.js'
import type { StepContext, StepSettings } from './steps/step-context.js'
import { ledgerSteps } from './steps/steps.js'
import { sweepSteps } from './steps/sweep-steps.js'
import { transferSteps } from './steps/transfer-steps.js'
import { encode } from './stored.js'

export const steps: typeof ledgerSteps &
  typeof sweepSteps &
  typeof transferSteps &
  typeof operatorSteps &
  typeof payerSteps &
  typeof scheduleSteps &
  typeof loginSteps &
  typeof doubtSteps = {
  ...ledgerSteps,
  ...sweepSteps,
  ...transferSteps,
  ...operatorSteps,
  ...payerSteps,
  ...scheduleSteps,
  ...loginSteps,
  ...doubtSteps,
}
export type Steps = typeof steps
export type StepName = keyof Steps

export type StepArgs<Name extends StepName> =
  Parameters<Steps[Name]> extends [unknown, ...infer Args] ? Args : never
export type StepResult<Name extends StepName> = ReturnType<Steps[Name]> extends Step<infer T> ? T : never

/** A step that waits, and the time at which it was asked for. */
export type Request = {
  readonly name: StepName
  readonly args: readonly unknown[]
  readonly nowMs: number
  /** The leases under which the step is made. */
  readonly fences?: readonly Fence[]
}

export type Reply = { readonly value: unknown } | { readonly error: unknown }

export type GroupSettings = { readonly steps: StepSettings; readonly keepSigned: KeepSigned }

type Names<Name extends StepName> = (...args: StepArgs<Name>) => Partial<Keys>

const ofPayment = (nonce: ChallengeNonce) => ({ nonces: [nonce] })
const ofPayments = (_: unknown, nonces: readonly ChallengeNonce[]) => ({ nonces })

/** The rows that a step is going to look at, as far as its arguments name them. */
const rowsNeededBy: { readonly [Name in StepName]?: Names<Name> } = {
  claim: (nonce, payload) => ({
    nonces: [nonce],
    ...(payload.kind === 'permit' && { payers: [payload.payer] }),
  }),
  release: ofPayment,
  recordSigned: ofPayments,
  accept: ofPayment,
  demote: ofPayment,
  moveBurn: ofPayment,
  recordMintSigned: ofPayments,
  finalize: ofPayment,
  recordLate: ({ nonce }) => ({ nonces: [nonce] }),
  recordUnmatched: ofPayment,
  useGrants: (nonces) => ({ nonces }),
  findGrantable: ofPayment,
  disclose: ofPayment,
}

/** The rows that these requests name, each once and in the order of the requests. */
export function keysOf(requests: readonly Request[]): Keys {
  const keys = requests.map(({ name, args }) =>
    (rowsNeededBy[name] as ((...args: readonly unknown[]) => Partial<Keys>) | undefined)?.(...args),
  )
  return {
    nonces: [...new Set(keys.flatMap((each) => each?.nonces ?? []))],
    payers: [...new Set(keys.flatMap((each) => each?.payers ?? []))],
  }
}

/**
 * Runs the steps behind the event with the number `applied`. Throws when the whole group must be taken back: then
 * `rows` know too much.
 */
export function* runSteps(
  requests: readonly Request[],
  deps: {
    readonly applied: number
    readonly settings: GroupSettings
    readonly rows: Rows
    /** The terms of the leases, and the time, as all daemons of this store know them. */
    readonly shared?: { readonly terms: Readonly<Record<string, number>>; readonly now: Query }
    /** Hears of each event, in order. */
    readonly onEvent?: (at: UnixSeconds, json: string) => void
  },
): Step<{ readonly replies: readonly Reply[]; readonly applied: number }> {
  const { settings, rows, shared, onEvent } = deps
  let { applied } = deps
  /** Events that were begun, and may have changed rows. */
  let begun = 0

  function* record(at: UnixSeconds, event: LedgerEvent): Step<void> {
    begun += 1
    const json = encode(event)
    yield* apply(event, applied + 1, { at, keep: settings.keepSigned, rows }, json)
    applied += 1
    onEvent?.(at, json)
  }

  const replies: Reply[] = []
  for (const { name, args, nowMs, fences = [] } of requests) {
    if (fences.some((fence) => shared?.terms[fence.name] !== fence.term)) {
      replies.push({ error: leaseLost() })
      continue
    }
    const now = Math.floor(nowMs / 1000) as UnixSeconds
    const context: StepContext = {
      now,
      sharedNow: shared?.now ?? sql`${nowMs}`,
      settings: settings.steps,
      rows,
      record: (event) => record(now, event),
    }
    const before = begun
    try {
      const step = steps[name] as (context: StepContext, ...args: readonly unknown[]) => Step<unknown>
      replies.push({ value: yield* step(context, ...args) })
    } catch (error) {
      // A step throws before it writes. A step that wrote takes the group with it.
      if (begun !== before || !(error instanceof SvcError)) throw error
      replies.push({ error })
    }
  }
  return { replies, applied }
}
