/**
 * Burns under way. Each runs from claim to accepted (or released) on its own, whether or not a caller still
 * waits for it: a `/settle` only watches.
 */
import { backOffMs, type ChallengeNonce, inTime, Payload, type Rejection } from '@svc-zerc20/protocol'
import type { Burner } from '../ports.js'
import type { Challenge, ClaimedPermit, Interrupted, ShallowBurns } from '../records.js'
import type { Examine } from './examine.js'
import type { PermitVerdict } from './judge.js'
import { type BurnEnd, createRunBurn, isClaimOf, type RunBurnDeps } from './run-burn.js'

export type Burns = ReturnType<typeof createBurns>

export function createBurns(
  deps: RunBurnDeps & { readonly burner: Burner; readonly examine: Pick<Examine, 'permit' | 'isLost'> },
) {
  const { burner, ledger, examine, account, report } = deps
  const takeUpLater = createTakeUpLater(deps, takeUp)
  const underWay = createUnderWay(deps, takeUpLater)
  const { run, runAgain, follow } = createRunBurn(deps)
  const isAwaited =
    ({ nonce }: Challenge) =>
    () =>
      underWay.isWatched(nonce)

  burner.onReorged((item, burned, how) => {
    // The burn may not even be recorded as accepted yet.
    const before = Promise.resolve(underWay.of(item.challenge.nonce)).catch(() => undefined)
    const goOn = how === 'moved' ? follow : runAgain
    const running = before.then(() => goOn(item, burned))
    underWay.track(
      item,
      // Until the transaction that is sent again has ended, nobody may sign another one.
      running.catch(async (error) => {
        await burned.catch(() => undefined)
        throw error
      }),
    )
  })

  function start(item: ClaimedPermit, verdict: PermitVerdict): void {
    const { challenge } = item
    if (underWay.of(challenge.nonce)) return
    const burned = verdict === 'burned' ? burner.find(item) : burner.burn(item)
    underWay.track(item, run(item, burned, isAwaited(challenge)))
  }

  async function release(
    { challenge: { nonce }, payload }: ClaimedPermit,
    { reason, message }: Rejection,
    unsigned: boolean,
  ): Promise<boolean> {
    const sureOf = { unsigned, sender: account, identity: Payload.identity(payload) }
    const outcome = await ledger.release(nonce, { reason, message }, sureOf)
    if (outcome === 'released') report({ event: 'burn.failed', challengeNonce: nonce, reason })
    return outcome === 'released'
  }

  async function refuse(item: ClaimedPermit, rejection: Rejection): Promise<'refused' | 'under_way'> {
    const { nonce } = item.challenge
    if (underWay.of(nonce)) return 'under_way'
    if (await release(item, rejection, true)) return 'refused'
    if (!(await examine.isLost(item, rejection))) return 'under_way'
    await release(item, rejection, false)
    return 'refused'
  }

  async function takeUp(item: ClaimedPermit): Promise<'refused' | 'under_way'> {
    const { challenge, payload } = item
    if (underWay.of(challenge.nonce)) return 'under_way'
    const examined = await examine.permit(challenge, payload)
    // Whoever sends next takes it up.
    if (deps.closing.aborted) return 'under_way'
    if (!examined.ok) return refuse(item, examined)
    start(item, examined.value.verdict)
    return 'under_way'
  }

  return {
    /** Starts the claimed burn in the background, unless it is under way; one that is on chain already is only looked up. */
    start,

    /** Goes on with the transaction that an earlier run of the daemon had broadcast. */
    resume(interrupted: Interrupted): void {
      const outcomes = burner.resume(interrupted)
      for (const [i, item] of interrupted.items.entries()) {
        const outcome = outcomes[i]
        if (outcome) underWay.track(item, run(item, outcome, isAwaited(item.challenge)))
      }
    },

    /** Examines a claim again whose burn does not run: it is burned, found burned, or refused. */
    takeUp,

    /** Watches accepted burns of an earlier run: a reorg is answered as in that run. */
    watchForReorg: (burns: ShallowBurns) => burner.watch(burns),

    /** Releases a claim that cannot burn, unless its burn is running, or a transaction carries it that a block may still hold. */
    refuse,

    watch: underWay.watch,

    isUnderWay: (challengeNonce: ChallengeNonce): boolean => underWay.of(challengeNonce) !== undefined,

    idle: underWay.idle,
  }
}

/** Takes up claims whose burns broke off, later each time, until they have come to an end. Their payers may have gone away. */
function createTakeUpLater(
  { ledger, account, clock, report, retryMs, closing }: RunBurnDeps,
  takeUp: Burns['takeUp'],
): (item: ClaimedPermit) => void {
  /** What was claimed with last, of each challenge. */
  const waiting = new Map<ChallengeNonce, ClaimedPermit>()

  async function isEnded(item: ClaimedPermit): Promise<boolean> {
    const { nonce } = item.challenge
    try {
      const payment = await ledger.find(nonce)
      if (payment?.accepted || !isClaimOf(payment, item, account)) return true
      return (await takeUp(item)) === 'refused'
    } catch (err) {
      report({ event: 'burn.interrupted', challengeNonce: nonce, err })
      return false
    }
  }

  async function takeUpUntilEnded(nonce: ChallengeNonce): Promise<void> {
    for (let times = 1; ; times++) {
      await clock.sleep(backOffMs(times, retryMs.first, retryMs.max), closing)
      const item = waiting.get(nonce)
      if (closing.aborted || !item) return
      if ((await isEnded(item)) && waiting.get(nonce) === item) return void waiting.delete(nonce)
    }
  }

  return (item) => {
    const { nonce } = item.challenge
    const isWaiting = waiting.has(nonce)
    waiting.set(nonce, item)
    if (!isWaiting) void takeUpUntilEnded(nonce)
  }
}

/** The burns that run at the moment, one for each challenge at most, and how each ends. */
function createUnderWay(
  { clock, report }: Pick<RunBurnDeps, 'clock' | 'report'>,
  takeUpLater: (item: ClaimedPermit) => void,
) {
  const underWay = new Map<ChallengeNonce, Promise<BurnEnd>>()
  /** The number of callers that wait for each. */
  const watched = new Map<ChallengeNonce, number>()
  const count = (nonce: ChallengeNonce, more: 1 | -1) => {
    const after = (watched.get(nonce) ?? 0) + more
    if (after === 0) watched.delete(nonce)
    else watched.set(nonce, after)
  }
  return {
    track(item: ClaimedPermit, running: Promise<BurnEnd>): void {
      const { nonce } = item.challenge
      const end = running.finally(() => {
        if (underWay.get(nonce) === end) underWay.delete(nonce)
      })
      underWay.set(nonce, end)
      end.then(
        (burnEnd) => {
          if (burnEnd.kind === 'failed' && burnEnd.isOpen) takeUpLater(item)
        },
        (err) => {
          report({ event: 'burn.interrupted', challengeNonce: nonce, err })
          takeUpLater(item)
        },
      )
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
