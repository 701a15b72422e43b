/**
 * Claimed permits, and all that happens to one: it is burned and accepted, or released. A claim goes on by itself, whether or not
 * a caller still waits for it: a `/settle` only watches. Whatever interrupts it, it is gone on with here: a crash or a takeover
 * (`resume`), a claim whose answer got lost and a burn that broke off (`takeUpLater`), a reorg (`onReorged`), and the same payload
 * once more (`start`, `refuse`).
 */
import {
  backOffMs,
  type ChallengeNonce,
  type Clock,
  inTime,
  Payload,
  type Rejection,
  SvcError,
} from '@svc-zerc20/protocol'
import { demote } from '../demote.js'
import type { Ledger } from '../ledger-port.js'
import type { Burner, BurnOutcome } from '../ports.js'
import type { Challenge, ClaimedPermit, PayerMeans, Payment } from '../records.js'
import { acceptedEvent, type Report } from '../report.js'
import type { Examine } from './examine.js'
import type { PermitVerdict } from './judge.js'

export type Claims = ReturnType<typeof createClaims>

type ClaimsDeps = {
  readonly burner: Burner
  readonly ledger: Pick<
    Ledger,
    'find' | 'claim' | 'accept' | 'release' | 'demote' | 'moveBurn' | 'burnFailed' | 'interrupted'
  >
  readonly examine: Pick<Examine, 'permit' | 'selfTransfer' | 'isLost'>
  readonly clock: Clock
  readonly report: Report
  /** Pauses before a burn that broke off, or was demoted, is tried again: the first, and the longest. */
  readonly retryMs: { readonly first: number; readonly max: number }
  /** Ends these pauses. After that nothing is tried again, and no claim released: the next daemon may have signed for it. */
  readonly draining: AbortSignal
  /** From now on another daemon ends what is under way. Callers that wait here are told so. */
  readonly closing: AbortSignal
}

type Burned = BurnOutcome & { readonly kind: 'burned' }
type Failed = BurnOutcome & { readonly kind: 'failed' }

/** Failures of the chain, the relayer or the disk, not of the burn. */
const temporaryFailures: ReadonlySet<string> = new Set([
  'chain_unavailable',
  'relayer_busy',
  'storage_unavailable',
])

export function createClaims(deps: ClaimsDeps) {
  const { burner, ledger, examine, draining } = deps
  const takeUpLater = createTakeUpLater(deps, takeUp)
  const underWay = createUnderWay(deps, takeUpLater)
  const { run, runAgain, follow } = createRun(deps, takeUpLater)

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
    if (underWay.of(item.challenge.nonce)) return
    underWay.track(item, run(item, verdict === 'burned' ? burner.find(item) : burner.burn(item)))
  }

  async function refuse(item: ClaimedPermit, rejection: Rejection): Promise<'refused' | 'under_way'> {
    if (underWay.of(item.challenge.nonce)) return 'under_way'
    if (await release(deps, item, { rejection }, true)) return 'refused'
    if (!(await examine.isLost(item, rejection))) return 'under_way'
    await release(deps, item, { rejection }, false)
    return 'refused'
  }

  /** Examines a claim again whose burn does not run: it is burned, found burned, or refused. */
  async function takeUp(item: ClaimedPermit): Promise<'refused' | 'under_way'> {
    const { challenge, payload } = item
    if (underWay.of(challenge.nonce)) return 'under_way'
    const examined = await examine.permit(challenge, payload)
    if (draining.aborted) return 'under_way'
    if (!examined.ok) return refuse(item, examined)
    start(item, examined.value.verdict)
    return 'under_way'
  }

  return {
    /** Claims a challenge for its permit. If the answer gets lost, a claim that is recorded goes on without its payer. */
    async claim(item: ClaimedPermit, ticketed: boolean, means: PayerMeans | undefined) {
      const { challenge, payload } = item
      try {
        return await ledger.claim(challenge.nonce, payload, ticketed, means)
      } catch (error) {
        takeUpLater(item, { mayCome: true })
        throw error
      }
    },

    /** Starts the claimed burn in the background, unless it is under way; one that is on chain already is only looked up. */
    start,

    /** Releases a claim that cannot burn, unless its burn is running, or a transaction carries it that a block may still hold. */
    refuse,

    /** How the burn under way ends, or `late` when the bound passes first. Undefined when none is under way. */
    watch: underWay.watch,

    isUnderWay: (challengeNonce: ChallengeNonce): boolean => underWay.of(challengeNonce) !== undefined,

    resume: createResume(deps, {
      goOn: (item, outcome) => underWay.track(item, run(item, outcome)),
      takeUp,
    }),

    idle: underWay.idle,
  }
}

/**
 * Takes up what the last holder of the ledger left, be it an earlier run, another daemon, or this one before it lost its lease.
 * Signed transactions go back to the relayer before `startSenders` lets it assign new txNonces. Claims without one are judged
 * again: they are burned, found burned, or released.
 */
function createResume(
  deps: ClaimsDeps,
  claims: {
    goOn(item: ClaimedPermit, outcome: Promise<BurnOutcome>): void
    takeUp(item: ClaimedPermit): Promise<unknown>
  },
): (startSenders: () => Promise<unknown>) => Promise<void> {
  const { burner, ledger, examine, report } = deps
  const tell = ({ challenge }: ClaimedPermit) =>
    report({ event: 'burn.resumed', challengeNonce: challenge.nonce })
  return async (startSenders) => {
    const { transactions, shallow, unsigned, transfers } = await ledger.interrupted()
    for (const relayed of shallow) burner.watch(relayed)
    for (const interrupted of transactions) {
      const outcomes = burner.resume(interrupted)
      for (const [i, item] of interrupted.items.entries()) {
        const outcome = outcomes[i]
        if (outcome) claims.goOn(item, outcome)
        tell(item)
      }
    }
    await startSenders()
    for (const item of unsigned) {
      await claims.takeUp(item)
      tell(item)
    }
    for (const { challenge, payload } of transfers) {
      const burn = await examine.selfTransfer(challenge, payload)
      // One that the chain does not hold now stays claimed for its payload.
      if (burn.ok) await accept(deps, challenge, { kind: 'burned', burn: burn.value })
    }
  }
}

async function accept(
  { ledger, report }: Pick<ClaimsDeps, 'ledger' | 'report'>,
  challenge: Challenge,
  burned: Burned,
): Promise<Burned> {
  const { burn } = burned
  if ((await ledger.accept(challenge.nonce, burn)) === 'accepted') report(acceptedEvent(challenge, burn))
  return burned
}

async function release(
  { ledger, report }: Pick<ClaimsDeps, 'ledger' | 'report'>,
  { challenge: { nonce }, payload }: ClaimedPermit,
  { rejection: { reason, message }, txHash }: Pick<Failed, 'rejection' | 'txHash'>,
  unsigned: boolean,
): Promise<boolean> {
  const sureOf = { unsigned, identity: Payload.identity(payload) }
  if ((await ledger.release(nonce, { reason, message, txHash }, sureOf)) === 'kept') return false
  report({ event: 'burn.failed', challengeNonce: nonce, reason })
  return true
}

/** Takes a burn to the end of its claim: accepted, released, or, once it was accepted, tried again until a block holds it. */
function createRun(deps: ClaimsDeps, takeUpLater: (item: ClaimedPermit) => void) {
  const { ledger } = deps
  const burnUntilMined = createBurnUntilMined(deps)

  /** Runs a burn from its claim on. A burn that surely did not happen frees its challenge. */
  async function run(item: ClaimedPermit, burned: Promise<BurnOutcome>): Promise<BurnOutcome> {
    const { challenge, payload } = item
    const outcome = await burned
    if (outcome.kind === 'burned') return accept(deps, challenge, outcome)
    const isDemoted = (await ledger.find(challenge.nonce))?.demoted !== undefined
    if (deps.draining.aborted) throw leaseLost()
    if (isDemoted) return burnUntilMined(item, outcome)
    // Such a failure says nothing of a transaction before this one, or of one whose record was written while only the
    // answer to that got lost.
    const unsigned = temporaryFailures.has(outcome.rejection.reason) && !outcome.isDisplaced
    // Noted before the claim is free: its payer has the next burn relayed the moment it is.
    if (outcome.spentGas) await ledger.burnFailed(payload.payer)
    return (await release(deps, item, outcome, unsigned)) ? outcome : endKept(item, outcome)
  }

  /** A follower of the chain may have seen the burn that the burner did not see. The ledger's record counts. */
  async function endKept(item: ClaimedPermit, outcome: Failed): Promise<BurnOutcome> {
    const payment = await ledger.find(item.challenge.nonce)
    if (payment?.accepted) return { kind: 'burned', burn: payment.accepted.burn }
    if (payment?.demoted) return burnUntilMined(item, outcome)
    // A transaction that was recorded before may still burn for it.
    if (isClaimOf(payment, item)) takeUpLater(item)
    return outcome
  }

  /** Runs a burn that no block holds any more. Its payment cannot be finalized until a block holds it again. */
  async function runAgain(item: ClaimedPermit, burned: Promise<BurnOutcome>): Promise<BurnOutcome> {
    const { nonce } = item.challenge
    // A burn that was not accepted bought nothing. If its payload is sent again, the burn is found.
    await demote(deps, nonce)
    const isAwaited = (await ledger.find(nonce))?.demoted !== undefined
    const outcome = await burned
    return isAwaited ? burnUntilMined(item, outcome) : outcome
  }

  /** Follows a burn whose transaction is in another block. The burn has another place there, or failed. */
  async function follow(item: ClaimedPermit, burned: Promise<BurnOutcome>): Promise<BurnOutcome> {
    const { nonce } = item.challenge
    const outcome = await burned
    if (outcome.kind === 'failed') return runAgain(item, burned)
    if ((await ledger.find(nonce))?.accepted) await ledger.moveBurn(nonce, outcome.burn)
    return outcome
  }

  return { run, runAgain, follow }
}

const leaseLost = () => new SvcError('lease_lost', 'whoever has the ledger next takes the burn up')

/** Whether the payment is still claimed by this payload. Another permit may have claimed it since. */
function isClaimOf(payment: Payment | undefined, { payload }: ClaimedPermit): boolean {
  const { claim } = payment ?? {}
  return claim?.identity === Payload.identity(payload) && claim.permit?.permitNonce === payload.permit.nonce
}

/**
 * Tries the burn of a payment again that was accepted once, because a resource may have been served for it: temporary
 * failures are waited out. The claim stays in any case, because releasing it would erase which burn the payment had.
 */
function createBurnUntilMined(
  deps: ClaimsDeps,
): (item: ClaimedPermit, outcome: BurnOutcome) => Promise<BurnOutcome> {
  const { burner, ledger, clock, report, retryMs, draining } = deps
  return async (item, outcome) => {
    const { nonce } = item.challenge
    let last = outcome
    for (
      let failures = 1;
      last.kind === 'failed' && temporaryFailures.has(last.rejection.reason);
      failures++
    ) {
      await clock.sleep(backOffMs(failures, retryMs.first, retryMs.max), draining)
      if (draining.aborted) throw leaseLost()
      // A block that holds the burn may have been found meanwhile.
      const { accepted } = (await ledger.find(nonce)) ?? {}
      if (accepted) return { kind: 'burned', burn: accepted.burn }
      last = await burner.burn(item)
    }
    if (last.kind === 'burned') return accept(deps, item.challenge, last)
    report({ event: 'burn.lost', challengeNonce: nonce, reason: last.rejection.reason })
    return last
  }
}

/** Claims of which nobody knows whether they are recorded, at once. Beyond it the payer, or the next start, takes one up. */
const doubtfulMax = 5_000

/** Takes up claims whose burns broke off, later each time, until they have come to an end. Their payers may have gone away. */
function createTakeUpLater(
  { ledger, clock, report, retryMs, draining }: ClaimsDeps,
  takeUp: (item: ClaimedPermit) => Promise<'refused' | 'under_way'>,
): (item: ClaimedPermit, doubt?: { readonly mayCome: true }) => void {
  /** What was claimed with last, of each challenge, and until when a step that waits for the disk may still record the claim. */
  const waiting = new Map<ChallengeNonce, { readonly item: ClaimedPermit; readonly untilMs: number }>()

  async function isEnded(item: ClaimedPermit, untilMs: number): Promise<boolean> {
    const { nonce } = item.challenge
    try {
      const payment = await ledger.find(nonce)
      if (payment && !payment.claim) return clock.now() >= untilMs
      if (payment?.accepted || !isClaimOf(payment, item)) return true
      return (await takeUp(item)) === 'refused'
    } catch (err) {
      report({ event: 'burn.interrupted', challengeNonce: nonce, err })
      return false
    }
  }

  async function takeUpUntilEnded(nonce: ChallengeNonce): Promise<void> {
    for (let times = 1; ; times++) {
      await clock.sleep(backOffMs(times, retryMs.first, retryMs.max), draining)
      const next = waiting.get(nonce)
      if (draining.aborted || !next) return
      if ((await isEnded(next.item, next.untilMs)) && waiting.get(nonce) === next)
        return void waiting.delete(nonce)
    }
  }

  return (item, doubt) => {
    const { nonce, deadline = 0 } = item.challenge
    const isWaiting = waiting.has(nonce)
    if (doubt && !isWaiting && waiting.size >= doubtfulMax) return
    waiting.set(nonce, { item, untilMs: doubt ? deadline * 1000 : 0 })
    if (!isWaiting) void takeUpUntilEnded(nonce)
  }
}

/** The burns that run at the moment, one for each challenge at most, and how each ends. */
function createUnderWay({ clock, report, closing }: ClaimsDeps, takeUpLater: (item: ClaimedPermit) => void) {
  const underWay = new Map<ChallengeNonce, Promise<BurnOutcome>>()
  return {
    track(item: ClaimedPermit, running: Promise<BurnOutcome>): void {
      const { nonce } = item.challenge
      const end = unlessAborted(closing, running).finally(() => {
        if (underWay.get(nonce) === end) underWay.delete(nonce)
      })
      underWay.set(nonce, end)
      end.catch((err) => {
        if (closing.aborted) return
        report({ event: 'burn.interrupted', challengeNonce: nonce, err })
        takeUpLater(item)
      })
    },

    of: (challengeNonce: ChallengeNonce) => underWay.get(challengeNonce),

    watch(challengeNonce: ChallengeNonce, boundMs: number): Promise<BurnOutcome | 'late'> | undefined {
      const end = underWay.get(challengeNonce)
      return end && inTime(end, boundMs, clock)
    },

    /** Resolves when no burn is under way. */
    async idle(): Promise<void> {
      await Promise.allSettled(underWay.values())
    },
  }
}

/** What the work resolves with. Throws `SvcError('lease_lost')` at once when the signal aborts; the work itself may never end. */
function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(leaseLost())
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
