/** Waits for the block of a mint, but not for ever: reorged burns would go unnoticed meanwhile. */
import type { Clock, MintOutcome } from '../ports.js'
import type { Round } from './round.js'

/**
 * `cut_off`: the round was; a transaction that was sent is on record, and the next run resumes it. `elapsed`: the mint goes
 * on, and the minter reports it as under way.
 */
export type WaitForMint = (
  minted: Promise<MintOutcome>,
  round: Pick<Round, 'cutOff'>,
) => Promise<MintOutcome | 'cut_off' | 'elapsed'>

export function createWaitForMint(deps: {
  readonly clock: Pick<Clock, 'sleep'>
  /** How long a round waits for the block of one mint. */
  readonly mintWaitMs: number
}): WaitForMint {
  return (minted, { cutOff }) => {
    const bound = new AbortController()
    const elapsed = deps.clock.sleep(deps.mintWaitMs, bound.signal).then(() => 'elapsed' as const)
    return Promise.race([minted, cutOff, elapsed]).finally(() => bound.abort())
  }
}
