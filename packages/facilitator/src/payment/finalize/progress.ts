/**
 * How far each payment is on its way to a mint: the steps of a round, which payments are due, why others wait, and which
 * ones are minted.
 */
import type { ChallengeNonce, Clock } from '@svc-zerc20/protocol'
import type { AwaitingMint } from '../records.js'
import type { Report } from '../report.js'
import { createWaits, type Wait, type WaitReason, type Waits, waitReasons } from '../waits.js'
import type { MintSchedule, ProvedRoot } from './ports.js'

/** The step that a round took for a payment, or why the payment waits. */
export type MintStep =
  | 'finalized'
  /** The mint is in a block. */
  | 'mined'
  | 'failed'
  /** The round was cut off. */
  | 'interrupted'
  | WaitReason

/** The step of each payment that was due. */
export type RoundEnd = ReadonlyMap<ChallengeNonce, MintStep>

/** One round of finalization, and what it may still do. */
export type Round = {
  readonly signal: AbortSignal
  /** The number of burns of this amount that wait under the root: any of them could explain a mint of it. */
  readonly companyOf: (value: bigint) => number
  mintsLeft: number
  burnsLeft: number
}

/** How many payments of a round took one of these steps. */
export const count = (end: RoundEnd, ...steps: readonly MintStep[]): number =>
  [...end.values()].filter((step) => steps.includes(step)).length

export type Progress = ReturnType<typeof createProgress>

export function createProgress(deps: {
  readonly schedule: MintSchedule
  readonly clock: Pick<Clock, 'now'>
  readonly report: Report
}) {
  const { schedule } = deps
  const waits = createWaits(deps)
  /** Minted as far as we know, and not recorded yet. */
  const minted = new Map<ChallengeNonce, AwaitingMint>()
  return {
    schedule,
    waits,
    minted,

    /**
     * The payments that may be tried now, at most `countMax`. Remembers that others are delayed, and forgets those that are
     * in no list of what awaits its mint.
     */
    async due(countMax: number, inEpochs: readonly AwaitingMint[]): Promise<readonly AwaitingMint[]> {
      const { due, delayed, single } = await schedule.plan(countMax)
      waits.keep(new Set([...single, ...inEpochs.map(({ challenge }) => challenge.nonce)]))
      waits.replace('delayed', delayed, 'queued')
      for (const { challenge } of due) if (!waits.of(challenge.nonce)) waits.set(challenge.nonce, 'queued')
      return due
    },

    async failed(challengeNonce: ChallengeNonce, reason: WaitReason, err: unknown): Promise<'failed'> {
      waits.set(challengeNonce, reason)
      const tell = () => deps.report({ event: 'mint.failed', reason, err })
      await schedule.failed(challengeNonce).finally(tell)
      return 'failed'
    },

    /** Remembers why the payment waits after this step. */
    remember(payment: AwaitingMint, step: MintStep): void {
      const { nonce } = payment.challenge
      if (step === 'mined' || step === 'confirming') {
        // Meanwhile `confirm` may have recorded it.
        if (!waits.of(nonce)) return
        waits.set(nonce, 'confirming')
        minted.set(nonce, payment)
      } else if (isWait(step) && step !== 'burn_lost') {
        // `withCurrentBurn` has remembered, or forgotten, a lost burn already.
        waits.set(nonce, step, step === 'gathering' ? gathersOf(payment) : undefined)
      }
    },

    async forget(challengeNonce: ChallengeNonce): Promise<void> {
      waits.forget(challengeNonce)
      minted.delete(challengeNonce)
      await schedule.forget(challengeNonce)
    },
  }
}

/** An epoch waits for a late burn since the challenge expired. */
const gathersOf = ({ acceptedAt, challenge: { epoch, expiresAt } }: AwaitingMint): Wait['gathers'] =>
  epoch && { epoch: epoch.start, at: acceptedAt ?? expiresAt }

const isWait = (step: MintStep): step is WaitReason => step in waitReasons

/** Tells the operator that payments wait for the verifier: for a root that covers them, or for the end of a pause. */
export function createTellWaiting(deps: {
  readonly waits: Pick<Waits, 'summary'>
  readonly clock: Pick<Clock, 'now'>
  readonly report: Report
  /** How long burns wait for a root before the operator is told, and before the operator is told anything again. */
  readonly rootPatienceMs: number
}) {
  const { waits, clock, report, rootPatienceMs } = deps
  const toldAtMs = new Map<WaitReason, number>()

  /** Tells once for all payments, and again while that lasts. */
  function tell(wait: WaitReason, isSo: boolean, patienceMs: number, reason: string): void {
    const { count: payments, sinceMs } = waits.summary(wait)
    const now = clock.now()
    if (!isSo || payments === 0 || now - sinceMs < patienceMs) {
      toldAtMs.delete(wait)
      return
    }
    if (now - (toldAtMs.get(wait) ?? Number.NEGATIVE_INFINITY) < rootPatienceMs) return
    toldAtMs.set(wait, now)
    const seconds = Math.floor((now - sinceMs) / 1000)
    report({ event: 'finalize.waiting', reason, payments, seconds })
  }

  /** Called after each round. */
  return ({ isPaused }: Pick<ProvedRoot, 'isPaused'>): void => {
    tell('verifier_paused', isPaused, 0, 'the verifier is paused')
    // A short wait is ordinary, because roots take their time.
    const behind = 'no proved root covers the burns; does the indexer prove roots?'
    tell('root_behind', true, rootPatienceMs, behind)
  }
}
