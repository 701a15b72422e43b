/**
 * Burns under way. Each runs from claim to accepted (or released) on its own, whether or not a caller still
 * waits for it: a `/settle` only watches.
 */
import { type ChallengeNonce, inTime, type Rejection } from '@svc-zerc20/protocol'
import type { Burner } from '../ports.js'
import type { Challenge, ClaimedPermit, Interrupted, ShallowBurns } from '../records.js'
import type { PermitVerdict } from './judge.js'
import { type BurnEnd, createRunBurn, type RunBurnDeps } from './run-burn.js'

export type Burns = ReturnType<typeof createBurns>

export function createBurns(deps: RunBurnDeps & { readonly burner: Burner }) {
  const { burner, report } = deps
  const underWay = createUnderWay(deps)
  const { run, runAgain, follow } = createRunBurn(deps)
  const isAwaited =
    ({ nonce }: Challenge) =>
    () =>
      underWay.isWatched(nonce)

  burner.onReorged((item, burned, how) => {
    const { challenge } = item
    // The burn may not even be recorded as accepted yet.
    const before = Promise.resolve(underWay.of(challenge.nonce)).catch(() => undefined)
    const goOn = how === 'moved' ? follow : runAgain
    underWay.track(
      challenge,
      before.then(() => goOn(item, burned)),
    )
  })

  return {
    /** Starts the claimed burn in the background, unless it is under way; one that is on chain already is only looked up. */
    start(item: ClaimedPermit, verdict: PermitVerdict): void {
      const { challenge } = item
      if (underWay.of(challenge.nonce)) return
      const burned = verdict === 'burned' ? burner.find(item) : burner.burn(item)
      underWay.track(challenge, run(item, burned, isAwaited(challenge)))
    },

    /** Goes on with the transaction that an earlier run of the daemon had broadcast. */
    resume(interrupted: Interrupted): void {
      const outcomes = burner.resume(interrupted)
      for (const [i, item] of interrupted.items.entries()) {
        const outcome = outcomes[i]
        if (outcome) underWay.track(item.challenge, run(item, outcome, isAwaited(item.challenge)))
      }
    },

    /** Watches accepted burns of an earlier run: a reorg is answered as in that run. */
    watchForReorg: (burns: ShallowBurns) => burner.watch(burns),

    /** Releases a claim that cannot burn, unless its burn is running or a transaction carries it. */
    async refuse(nonce: ChallengeNonce, { reason, message }: Rejection): Promise<'refused' | 'under_way'> {
      if (underWay.of(nonce)) return 'under_way'
      const released = await deps.ledger.release(
        nonce,
        { reason, message },
        { unsigned: true, sender: deps.account },
      )
      if (released === 'released') report({ event: 'burn.failed', challengeNonce: nonce, reason })
      return 'refused'
    },

    watch: underWay.watch,

    isUnderWay: (challengeNonce: ChallengeNonce): boolean => underWay.of(challengeNonce) !== undefined,

    idle: underWay.idle,
  }
}

/** The burns that run at the moment, one for each challenge at most, and how each ends. */
function createUnderWay({ clock, report }: Pick<RunBurnDeps, 'clock' | 'report'>) {
  const underWay = new Map<ChallengeNonce, Promise<BurnEnd>>()
  /** The number of callers that wait for each. */
  const watched = new Map<ChallengeNonce, number>()
  const count = (nonce: ChallengeNonce, more: 1 | -1) => {
    const after = (watched.get(nonce) ?? 0) + more
    if (after === 0) watched.delete(nonce)
    else watched.set(nonce, after)
  }
  return {
    track(challenge: Challenge, running: Promise<BurnEnd>): void {
      const end = running.finally(() => {
        if (underWay.get(challenge.nonce) === end) underWay.delete(challenge.nonce)
      })
      underWay.set(challenge.nonce, end)
      // The claim stays: the same payload, sent again, resumes the burn where it broke off.
      end.catch((err) => report({ event: 'burn.interrupted', challengeNonce: challenge.nonce, err }))
    },

    of: (challengeNonce: ChallengeNonce) => underWay.get(challengeNonce),

    /** How the burn under way ends, or `late` when the bound passes first. Undefined when none is under way. */
    watch(challengeNonce: ChallengeNonce, boundMs: number): Promise<BurnEnd | 'late'> | undefined {
      const end = underWay.get(challengeNonce)
      if (!end) return undefined
      count(challengeNonce, 1)
      return inTime(end, boundMs, clock).finally(() => count(challengeNonce, -1))
    },

    isWatched: (challengeNonce: ChallengeNonce): boolean => watched.has(challengeNonce),

    /** Resolves when no burn is under way. */
    async idle(): Promise<void> {
      await Promise.allSettled(underWay.values())
    },
  }
}
