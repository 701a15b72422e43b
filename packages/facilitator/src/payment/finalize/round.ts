/** One round of finalization: what it did for each payment, and what it may still do. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Clock, MintOutcome } from '../ports.js'

/** The step that a round took for a payment, or why the payment waits. */
export type Step =
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
export type RoundEnd = ReadonlyMap<ChallengeNonce, Step>

export type Round = {
  readonly signal: AbortSignal
  readonly cutOff: Promise<'cut_off'>
  /** The number of burns of this amount that wait under the root: any of them could explain a mint of it. */
  readonly companyOf: (value: bigint) => number
  mintsLeft: number
  burnsLeft: number
}

/** How many payments of a round took one of these steps. */
export const count = (end: RoundEnd, ...steps: readonly Step[]): number =>
  [...end.values()].filter((step) => steps.includes(step)).length

/**
 * Resolves when the signal aborts. Release it after the round, because the signal lives as long as the
 * daemon.
 */
export function cutOffBy(signal: AbortSignal): { cutOff: Promise<'cut_off'>; release(): void } {
  let onAbort: () => void = () => undefined
  const cutOff = new Promise<'cut_off'>((resolve) => {
    onAbort = () => resolve('cut_off')
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort)
  })
  return { cutOff, release: () => signal.removeEventListener('abort', onAbort) }
}

/**
 * Waits for the block of a mint, but not for ever: reorged burns would go unnoticed meanwhile. `cut_off`: the round was; a
 * transaction that was sent is on record, and the next run resumes it. `elapsed`: the mint goes on, and the minter reports
 * it as under way.
 */
export function waitForMint(
  { clock, mintWaitMs }: { readonly clock: Pick<Clock, 'sleep'>; readonly mintWaitMs: number },
  minted: Promise<MintOutcome>,
  { cutOff }: Pick<Round, 'cutOff'>,
): Promise<MintOutcome | 'cut_off' | 'elapsed'> {
  const bound = new AbortController()
  const elapsed = clock.sleep(mintWaitMs, bound.signal).then(() => 'elapsed' as const)
  return Promise.race([minted, cutOff, elapsed]).finally(() => bound.abort())
}
