/** When the mint of each payment may be tried: after its delay, and later after each failure. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { AwaitingMint } from '../records.js'

/**
 * Facilitators that finalize the same payments share one schedule; each question may be a round trip to a store. Two of
 * them may be told that a payment is due at the same moment: the verifier mints no burn twice, so a race costs a proof and no
 * money. A schedule that is lost costs no money either: delays begin again, and failed payments are tried at once.
 */
export type MintSchedule = {
  /**
   * Payments with a proof of their own whose mint may be tried now, about oldest burn first and at most `countMax`, and all
   * that are held back for a random time. The first look at a payment draws its delay, which then stays the same for
   * everybody who asks.
   */
  plan(
    countMax: number,
  ): Promise<{ readonly due: readonly AwaitingMint[]; readonly delayed: readonly ChallengeNonce[] }>
  /** Failures in a row, and whether the last one was too recent to try again. Draws no delay. */
  failuresOf(challengeNonce: ChallengeNonce): Promise<{ readonly count: number; readonly isResting: boolean }>
  /** Counts a failure: the payment rests, longer each time up to a bound. */
  failed(challengeNonce: ChallengeNonce): Promise<void>
  /** A try went well: the payment does not rest, and its failures are counted from zero again. Its delay stays over. */
  succeeded(challengeNonce: ChallengeNonce): Promise<void>
  /** The payment is due at once, without delay and without rest. */
  hasten(challengeNonce: ChallengeNonce): Promise<void>
  /**
   * Forgets a payment that has nothing left to mint, or whose burn is gone. Another burn of it begins again.
   */
  forget(challengeNonce: ChallengeNonce): Promise<void>
}
