/** One round of finalization: what it did for each payment, and what it may still do. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'

/** The step that a round took for a payment, or why the payment waits. */
export type MintStep =
  | 'finalized'
  /** The mint is in a block. */
  | 'mined'
  /** Minted, or being minted, and not deep enough yet. */
  | 'confirming'
  /** No proved root covers the burn yet. */
  | 'root_behind'
  | 'verifier_paused'
  /** Waits for other payments of its epoch, to be minted with them. */
  | 'gathering'
  /** It is due, and waits for the proof or the mint of others. */
  | 'queued'
  /** Our account counted burns of its epoch that no record here explains. */
  | 'records_missing'
  /** More was minted for its epoch than all burns that we know: somebody else counts the same epoch. */
  | 'foreign_mint'
  /** No block holds the burn any more. */
  | 'burn_lost'
  | 'failed'
  /** The round was cut off. */
  | 'interrupted'

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
