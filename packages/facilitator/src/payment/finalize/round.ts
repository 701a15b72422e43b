/** One round of finalization: what it did for each payment, and what it may still do. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { WaitReason } from '../waits.js'

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
