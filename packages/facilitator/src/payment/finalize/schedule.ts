/** When the mint of each payment may be tried: after its delay, and later after each failure. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'

/** `delayed`: held back for its random delay. `resting`: its last try failed too recently. */
export type Turn = 'due' | 'delayed' | 'resting'

/**
 * Facilitators that finalize the same payments share one schedule; each question may be a round trip to a store. Two of
 * them may be told `due` at the same moment: the verifier mints no burn twice, so a race costs a proof and no money. A
 * schedule that is lost costs no money either: delays begin again, and failed payments are tried at once.
 */
export type MintSchedule = {
  /**
   * One turn per payment, in order. The first question about a payment draws its delay, which then stays the
   * same for everybody who asks.
   */
  turns(challengeNonces: readonly ChallengeNonce[]): Promise<readonly Turn[]>
  /** Whether the last try failed too recently. Draws no delay. */
  isResting(challengeNonce: ChallengeNonce): Promise<boolean>
  /** Failures in a row. */
  failures(challengeNonce: ChallengeNonce): Promise<number>
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
