/** When the mint of each payment may be tried: after its delay, and later after each failure. */
import { backOffMs, type ChallengeNonce } from '@svc-zerc20/protocol'
import type { Clock } from '../ports.js'

/** `delayed`: held back for its random delay. `resting`: its last try failed too recently. */
export type Turn = 'due' | 'delayed' | 'resting'

/**
 * Facilitators that finalize the same payments share one schedule; each question may be a round trip to a store. Two of
 * them may be told `due` at the same moment: the verifier mints no burn twice, so a race costs a proof and no money. A
 * schedule that is lost costs no money either: delays begin anew, and failed payments are tried at once.
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
   * Forgets a payment that has nothing left to mint, or whose burn is gone. Another burn of it begins anew.
   */
  forget(challengeNonce: ChallengeNonce): Promise<void>
}

/** A schedule in memory: for one facilitator, and until it ends. */
export function createMintSchedule(deps: {
  readonly clock: Pick<Clock, 'now'>
  /**
   * Milliseconds that a mint is held back after its burn is first seen, so that its time does not tell which
   * burn it is.
   */
  readonly delayMs: () => number
  /** Pauses after a failure: the first, and the longest. */
  readonly retryMs: { readonly first: number; readonly max: number }
}): MintSchedule {
  const { clock, retryMs } = deps
  const dueAtMs = new Map<ChallengeNonce, number>()
  const rests = new Map<ChallengeNonce, { readonly untilMs: number; readonly failures: number }>()
  const failuresOf = (nonce: ChallengeNonce) => rests.get(nonce)?.failures ?? 0
  const isResting = (nonce: ChallengeNonce) => clock.now() < (rests.get(nonce)?.untilMs ?? 0)

  function turnOf(nonce: ChallengeNonce): Turn {
    const at = dueAtMs.get(nonce) ?? clock.now() + deps.delayMs()
    dueAtMs.set(nonce, at)
    if (clock.now() < at) return 'delayed'
    return isResting(nonce) ? 'resting' : 'due'
  }

  return {
    turns: async (nonces) => nonces.map(turnOf),
    isResting: async (nonce) => isResting(nonce),
    failures: async (nonce) => failuresOf(nonce),
    async failed(nonce) {
      const failures = failuresOf(nonce) + 1
      rests.set(nonce, { untilMs: clock.now() + backOffMs(failures, retryMs.first, retryMs.max), failures })
    },
    async succeeded(nonce) {
      rests.delete(nonce)
    },
    async hasten(nonce) {
      rests.delete(nonce)
      dueAtMs.set(nonce, 0)
    },
    async forget(nonce) {
      dueAtMs.delete(nonce)
      rests.delete(nonce)
    },
  }
}
