/**
 * How far each payment is on its way to a mint: which ones are due, why others wait, and which ones are
 * minted.
 */
import type { ChallengeNonce, Clock } from '@svc-zerc20/protocol'
import type { AwaitingMint } from '../records.js'
import type { Report } from '../report.js'
import { createWaits, type WaitReason, waitReasons } from '../waits.js'
import type { MintSchedule } from './ports.js'
import type { MintStep } from './round.js'

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

    /** The payments that may be tried now, at most `countMax`. Remembers that others are delayed. */
    async due(countMax: number): Promise<readonly AwaitingMint[]> {
      const { due, delayed } = await schedule.plan(countMax)
      waits.replace('delayed', delayed, 'queued')
      for (const { challenge } of due) if (!waits.of(challenge.nonce)) waits.set(challenge.nonce, 'queued')
      return due
    },

    async failed(challengeNonce: ChallengeNonce, reason: WaitReason, err: unknown): Promise<'failed'> {
      waits.set(challengeNonce, reason)
      const tell = () => deps.report({ event: 'mint.failed', challengeNonce, reason, err })
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
        // Of a lost burn `withCurrentBurn` has remembered, or forgotten, what is right.
        waits.set(nonce, step)
      }
    },

    async forget(challengeNonce: ChallengeNonce): Promise<void> {
      waits.forget(challengeNonce)
      minted.delete(challengeNonce)
      await schedule.forget(challengeNonce)
    },
  }
}

const isWait = (step: MintStep): step is WaitReason => step in waitReasons
