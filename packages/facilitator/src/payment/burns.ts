/**
 * Burns under way. Each runs from claim to accepted (or released) on its own, whether or not a caller still
 * waits for it: a `/settle` only watches.
 */
import type { ChallengeNonce, Payload, Rejection, TxHash } from '@svc-zerc20/protocol'
import type { PermitVerdict } from './judge.js'
import type { Burn, Burner, BurnOutcome, Challenge, Clock, Interrupted, Ledger, Report } from './ports.js'

export type BurnEnd =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'failed'; readonly rejection: Rejection; readonly txHash?: TxHash }

export type Burns = {
  /**
   * Starts the claimed burn in the background, unless it is under way; one that is on chain already is only
   * looked up.
   */
  start(challenge: Challenge, payload: Payload.PermitPayload, verdict: PermitVerdict): void
  /** Goes on with what an earlier run of the daemon had broadcast. */
  resume(interrupted: Interrupted): void
  /** How the burn under way ends, or `pending` when the bound passes first. Undefined when none is under way. */
  watch(nonce: ChallengeNonce, boundMs: number): Promise<BurnEnd | 'pending'> | undefined
  isUnderWay(nonce: ChallengeNonce): boolean
  /** Resolves when no burn is under way. */
  idle(): Promise<void>
}

export function createBurns(deps: { burner: Burner; ledger: Ledger; clock: Clock; report: Report }): Burns {
  const { burner, ledger, clock, report } = deps
  const underWay = new Map<ChallengeNonce, Promise<BurnEnd>>()

  async function accept(nonce: ChallengeNonce, burn: Burn): Promise<BurnEnd> {
    if ((await ledger.accept(nonce, burn)) === 'accepted') {
      report({ event: 'payment.accepted', challengeNonce: nonce, txHash: burn.txHash })
    }
    return { kind: 'accepted' }
  }

  async function run(challenge: Challenge, burned: Promise<BurnOutcome>): Promise<BurnEnd> {
    const { nonce } = challenge
    const outcome = await burned
    if (outcome.kind === 'burned') return accept(nonce, outcome.burn)
    await ledger.release(nonce)
    report({ event: 'burn.failed', challengeNonce: nonce, reason: outcome.rejection.reason })
    return outcome
  }

  /** No block holds the burn any more: its payment cannot be finalized until one does again. */
  async function runAgain(challenge: Challenge, burned: Promise<BurnOutcome>): Promise<BurnEnd> {
    const { nonce } = challenge
    const demoted = await ledger.demote(nonce)
    const isAwaited = demoted === 'demoted' || (await ledger.find(nonce))?.demoted !== undefined
    // What was not accepted bought nothing, and whoever sends its payload again finds the burn.
    if (isAwaited || demoted === 'already_finalized') report({ event: 'burn.reorged', challengeNonce: nonce })
    const outcome = await burned
    if (outcome.kind === 'burned') return isAwaited ? accept(nonce, outcome.burn) : { kind: 'accepted' }
    if (isAwaited) report({ event: 'burn.lost', challengeNonce: nonce, reason: outcome.rejection.reason })
    return outcome
  }

  /** Another block holds its transaction: the burn has another place there, or failed. */
  async function follow(challenge: Challenge, burned: Promise<BurnOutcome>): Promise<BurnEnd> {
    const outcome = await burned
    if (outcome.kind === 'failed') return runAgain(challenge, burned)
    const payment = await ledger.find(challenge.nonce)
    if (payment?.accepted) await ledger.moveBurn(challenge.nonce, outcome.burn)
    return { kind: 'accepted' }
  }

  function track(challenge: Challenge, running: Promise<BurnEnd>): void {
    const end = running.finally(() => {
      if (underWay.get(challenge.nonce) === end) underWay.delete(challenge.nonce)
    })
    underWay.set(challenge.nonce, end)
    // The claim stays: the same payload, sent again, takes the burn up where it broke off.
    end.catch((err) => report({ event: 'burn.interrupted', challengeNonce: challenge.nonce, err }))
  }

  burner.onReorged((challenge, burned, how) => {
    // It may not even be recorded as accepted yet.
    const before = Promise.resolve(underWay.get(challenge.nonce)).catch(() => undefined)
    const goOn = how === 'moved' ? follow : runAgain
    track(
      challenge,
      before.then(() => goOn(challenge, burned)),
    )
  })

  return {
    start(challenge, payload, verdict) {
      if (underWay.has(challenge.nonce)) return
      const isBurned = verdict === 'burned'
      const burned = isBurned ? burner.find(challenge, payload) : burner.burn(challenge, payload)
      track(challenge, run(challenge, burned))
    },

    resume(interrupted) {
      const outcomes = burner.resume(interrupted)
      for (const [i, { challenge }] of interrupted.items.entries()) {
        const outcome = outcomes[i]
        if (outcome) track(challenge, run(challenge, outcome))
      }
    },

    watch(nonce, boundMs) {
      const end = underWay.get(nonce)
      if (!end) return undefined
      const bound = new AbortController()
      const elapsed = clock.sleep(boundMs, bound.signal).then(() => 'pending' as const)
      return Promise.race([end, elapsed]).finally(() => bound.abort())
    },

    isUnderWay: (nonce) => underWay.has(nonce),

    async idle() {
      await Promise.allSettled(underWay.values())
    },
  }
}
