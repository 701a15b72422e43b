/**
 * Burns under way. Each runs from claim to accepted (or released) on its own, whether or not a caller still
 * waits for it: a `/settle` only watches.
 */
import { backOffMs, type ChallengeNonce, type Payload, SvcError } from '@svc-zerc20/protocol'
import type { Ledger } from '../ledger-port.js'
import type { Burner, BurnOutcome, Clock } from '../ports.js'
import type { Burn, Challenge, Interrupted, ShallowBurns } from '../records.js'
import type { Report } from '../report.js'
import type { PermitVerdict } from './judge.js'
import type { PayerWaits } from './payer-waits.js'
import { type BurnEnd, createUnderWay } from './under-way.js'

type Item = Interrupted['items'][number]

/** Nothing is wrong with the burn: the chain, the relayer or the disk stand in its way, and that passes. */
const passing: ReadonlySet<string> = new Set(['chain_unavailable', 'relayer_busy', 'storage_unavailable'])

export type Burns = {
  /**
   * Starts the claimed burn in the background, unless it is under way; one that is on chain already is only
   * looked up.
   */
  start(challenge: Challenge, payload: Payload.PermitPayload, verdict: PermitVerdict): void
  /** Goes on with what an earlier run of the daemon had broadcast. */
  resume(interrupted: Interrupted): void
  /** Accepted burns of an earlier run: a reorg is answered as that run would have. */
  watchForReorg(burns: ShallowBurns): void
  /** How the burn under way ends, or `pending` when the bound passes first. Undefined when none is under way. */
  watch(nonce: ChallengeNonce, boundMs: number): Promise<BurnEnd | 'pending'> | undefined
  isUnderWay(nonce: ChallengeNonce): boolean
  /** Resolves when no burn is under way. */
  idle(): Promise<void>
}

export function createBurns(deps: {
  burner: Burner
  ledger: Ledger
  payerWaits: Pick<PayerWaits, 'failed'>
  clock: Clock
  report: Report
  /** Pauses before a burn of a demoted payment is tried again: the first, and the longest. */
  retryMs: { readonly first: number; readonly max: number }
  /** Ends these pauses; nothing is tried again then. */
  closing: AbortSignal
}): Burns {
  const { burner, ledger, clock, report, retryMs, closing } = deps
  const underWay = createUnderWay(deps)

  async function accept(nonce: ChallengeNonce, burn: Burn): Promise<BurnEnd> {
    if ((await ledger.accept(nonce, burn)) === 'accepted') {
      report({ event: 'payment.accepted', challengeNonce: nonce, txHash: burn.txHash })
    }
    return { kind: 'accepted' }
  }

  async function run(item: Item, burned: Promise<BurnOutcome>): Promise<BurnEnd> {
    const { nonce } = item.challenge
    const outcome = await burned
    if (outcome.kind === 'burned') return accept(nonce, outcome.burn)
    if ((await ledger.find(nonce))?.demoted) return insist(item, outcome)
    if ((await ledger.release(nonce)) === 'kept') return endKept(item, outcome)
    if (outcome.spentGas) deps.payerWaits.failed(item.payload.payer)
    report({ event: 'burn.failed', challengeNonce: nonce, reason: outcome.rejection.reason })
    return outcome
  }

  /** Whoever follows the chain saw the burn that the burner did not: what the ledger holds counts. */
  async function endKept(item: Item, outcome: BurnOutcome & { kind: 'failed' }): Promise<BurnEnd> {
    const payment = await ledger.find(item.challenge.nonce)
    if (payment?.accepted) return { kind: 'accepted' }
    return payment?.demoted ? insist(item, outcome) : outcome
  }

  /**
   * The payment was accepted once, and a resource may have been served for it: what passes is waited for. The claim
   * stays however it ends, because releasing it would erase which burn the payment had.
   */
  async function insist(item: Item, outcome: BurnOutcome): Promise<BurnEnd> {
    const { challenge, payload } = item
    const { nonce } = challenge
    let last = outcome
    for (let failures = 1; last.kind === 'failed' && passing.has(last.rejection.reason); failures++) {
      await clock.sleep(backOffMs(failures, retryMs.first, retryMs.max), closing)
      if (closing.aborted)
        throw new SvcError('burns_closed', 'the facilitator closed before the burn came back')
      // A block that holds it may have been found meanwhile.
      if ((await ledger.find(nonce))?.accepted) return { kind: 'accepted' }
      last = await burner.burn(challenge, payload)
    }
    if (last.kind === 'burned') return accept(nonce, last.burn)
    report({ event: 'burn.lost', challengeNonce: nonce, reason: last.rejection.reason })
    return last
  }

  /** No block holds the burn any more: its payment cannot be finalized until one does again. */
  async function runAgain(item: Item, burned: Promise<BurnOutcome>): Promise<BurnEnd> {
    const { nonce } = item.challenge
    const demoted = await ledger.demote(nonce)
    const isAwaited = demoted === 'demoted' || (await ledger.find(nonce))?.demoted !== undefined
    // What was not accepted bought nothing, and whoever sends its payload again finds the burn.
    if (isAwaited || demoted === 'already_finalized') report({ event: 'burn.reorged', challengeNonce: nonce })
    const outcome = await burned
    if (isAwaited) return insist(item, outcome)
    return outcome.kind === 'burned' ? { kind: 'accepted' } : outcome
  }

  /** Another block holds its transaction: the burn has another place there, or failed. */
  async function follow(item: Item, burned: Promise<BurnOutcome>): Promise<BurnEnd> {
    const { nonce } = item.challenge
    const outcome = await burned
    if (outcome.kind === 'failed') return runAgain(item, burned)
    const payment = await ledger.find(nonce)
    if (payment?.accepted) await ledger.moveBurn(nonce, outcome.burn)
    return { kind: 'accepted' }
  }

  burner.onReorged((item, burned, how) => {
    const { challenge } = item
    // It may not even be recorded as accepted yet.
    const before = Promise.resolve(underWay.of(challenge.nonce)).catch(() => undefined)
    const goOn = how === 'moved' ? follow : runAgain
    underWay.track(
      challenge,
      before.then(() => goOn(item, burned)),
    )
  })

  return {
    start(challenge, payload, verdict) {
      if (underWay.of(challenge.nonce)) return
      const isBurned = verdict === 'burned'
      const burned = isBurned ? burner.find(challenge, payload) : burner.burn(challenge, payload)
      underWay.track(challenge, run({ challenge, payload }, burned))
    },

    resume(interrupted) {
      const outcomes = burner.resume(interrupted)
      for (const [i, item] of interrupted.items.entries()) {
        const outcome = outcomes[i]
        if (outcome) underWay.track(item.challenge, run(item, outcome))
      }
    },

    watchForReorg: (burns) => burner.watch(burns),

    watch: underWay.watch,

    isUnderWay: (nonce) => underWay.of(nonce) !== undefined,

    idle: underWay.idle,
  }
}
