/** How far each payment is on its way to a mint: when it is due, what failed, why it waits, and what is minted. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Clock } from '../ports.js'
import type { AwaitingMint } from '../records.js'
import { createWaits, type WaitReason, type Waits } from '../waits.js'
import type { FinalizeEvent } from './ports.js'
import { createRetries, type Retries } from './retries.js'
import type { Step } from './round.js'

export type Progress = {
  readonly retries: Retries<ChallengeNonce>
  readonly waits: Waits
  /** Minted as far as we know, and not recorded yet. */
  readonly minted: Map<ChallengeNonce, AwaitingMint>
  /** Being recorded: a round and `confirm` may come upon the same payment. */
  readonly recording: Set<ChallengeNonce>
  /** Whether the payment may be tried now; the first question starts its delay. */
  isDue(challengeNonce: ChallengeNonce): boolean
  /** The payment is due at once, without delay and back-off. */
  hasten(challengeNonce: ChallengeNonce): void
  failed(challengeNonce: ChallengeNonce, reason: WaitReason, err: unknown): 'failed'
  /** Keeps why the payment waits after this step. */
  remember(payment: AwaitingMint, step: Step): void
  forget(challengeNonce: ChallengeNonce): void
}

export function createProgress(deps: {
  readonly clock: Clock
  readonly retryMs: { readonly first: number; readonly max: number }
  readonly delayMs: () => number
  readonly report: (event: FinalizeEvent) => void
}): Progress {
  const { clock } = deps
  const retries = createRetries<ChallengeNonce>({ clock, ...deps.retryMs })
  const dueAt = new Map<ChallengeNonce, number>()
  const waits = createWaits({ clock })
  const minted = new Map<ChallengeNonce, AwaitingMint>()
  const recording = new Set<ChallengeNonce>()
  return {
    retries,
    waits,
    minted,
    recording,

    isDue(challengeNonce) {
      const at = dueAt.get(challengeNonce) ?? clock.now() + deps.delayMs()
      dueAt.set(challengeNonce, at)
      const isHeldBack = clock.now() < at
      if (isHeldBack) waits.set(challengeNonce, 'delayed')
      else if ((waits.of(challengeNonce)?.reason ?? 'delayed') === 'delayed')
        waits.set(challengeNonce, 'queued')
      return !isHeldBack && retries.isDue(challengeNonce)
    },

    hasten(challengeNonce) {
      retries.forget(challengeNonce)
      dueAt.set(challengeNonce, 0)
    },

    failed(challengeNonce, reason, err) {
      retries.failed(challengeNonce)
      waits.set(challengeNonce, reason)
      deps.report({ event: 'mint.failed', challengeNonce, reason, err })
      return 'failed'
    },

    remember(payment, step) {
      const { nonce } = payment.challenge
      if (step === 'root_behind' || step === 'verifier_paused') waits.set(nonce, step)
      if (step !== 'mined' && step !== 'confirming') return
      // Meanwhile `confirm` may have recorded it.
      if (recording.has(nonce) || !waits.of(nonce)) return
      waits.set(nonce, 'confirming')
      minted.set(nonce, payment)
    },

    forget(challengeNonce) {
      dueAt.delete(challengeNonce)
      retries.forget(challengeNonce)
      waits.forget(challengeNonce)
      minted.delete(challengeNonce)
    },
  }
}
