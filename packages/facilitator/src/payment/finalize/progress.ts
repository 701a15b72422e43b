/**
 * How far each payment is on its way to a mint: which ones are due, why others wait, and which ones are
 * minted.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Clock } from '../ports.js'
import type { AwaitingMint } from '../records.js'
import { createWaits, type WaitReason, type Waits } from '../waits.js'
import type { FinalizeEvent } from './ports.js'
import type { Step } from './round.js'
import type { MintSchedule, Turn } from './schedule.js'

export type Progress = {
  readonly schedule: MintSchedule
  readonly waits: Waits
  /** Minted as far as we know, and not recorded yet. */
  readonly minted: Map<ChallengeNonce, AwaitingMint>
  /** Payments being recorded: a round and `confirm` may come upon the same one. */
  readonly recording: Set<ChallengeNonce>
  /** The payments that may be tried now. Remembers why the others wait. */
  due(payments: readonly AwaitingMint[]): Promise<readonly AwaitingMint[]>
  failed(challengeNonce: ChallengeNonce, reason: WaitReason, err: unknown): Promise<'failed'>
  /** Remembers why the payment waits after this step. */
  remember(payment: AwaitingMint, step: Step): void
  forget(challengeNonce: ChallengeNonce): Promise<void>
}

export function createProgress(deps: {
  readonly schedule: MintSchedule
  readonly clock: Pick<Clock, 'now'>
  readonly report: (event: FinalizeEvent) => void
}): Progress {
  const { schedule } = deps
  const waits = createWaits(deps)
  const minted = new Map<ChallengeNonce, AwaitingMint>()
  const recording = new Set<ChallengeNonce>()

  function keepWhy(challengeNonce: ChallengeNonce, turn: Turn | undefined): void {
    if (turn === 'delayed') waits.set(challengeNonce, 'delayed')
    else if ((waits.of(challengeNonce)?.reason ?? 'delayed') === 'delayed')
      waits.set(challengeNonce, 'queued')
  }

  return {
    schedule,
    waits,
    minted,
    recording,

    async due(payments) {
      const turns = await schedule.turns(payments.map(({ challenge }) => challenge.nonce))
      for (const [i, { challenge }] of payments.entries()) keepWhy(challenge.nonce, turns[i])
      return payments.filter((_, i) => turns[i] === 'due')
    },

    async failed(challengeNonce, reason, err) {
      waits.set(challengeNonce, reason)
      const tell = () => deps.report({ event: 'mint.failed', challengeNonce, reason, err })
      await schedule.failed(challengeNonce).finally(tell)
      return 'failed'
    },

    remember(payment, step) {
      const { nonce } = payment.challenge
      if (isWait(step)) waits.set(nonce, step)
      if (step !== 'mined' && step !== 'confirming') return
      // Meanwhile `confirm` may have recorded it.
      if (recording.has(nonce) || !waits.of(nonce)) return
      waits.set(nonce, 'confirming')
      minted.set(nonce, payment)
    },

    async forget(challengeNonce) {
      waits.forget(challengeNonce)
      minted.delete(challengeNonce)
      await schedule.forget(challengeNonce)
    },
  }
}

const isWait = (step: Step): step is Step & WaitReason => waitSteps.has(step)

const waitSteps: ReadonlySet<string> = new Set<Step & WaitReason>([
  'root_behind',
  'verifier_paused',
  'gathering',
  'queued',
  'records_missing',
  'foreign_mint',
])
