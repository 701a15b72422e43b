/** Takes one claimed burn to its end: accepted, released, or, once it was accepted, tried again until a block holds it. */
import {
  type Address,
  backOffMs,
  type Clock,
  Payload,
  type Rejection,
  SvcError,
  type TxHash,
} from '@svc-zerc20/protocol'
import { demote } from '../demote.js'
import type { Hold, Ledger } from '../ledger-port.js'
import type { Burner, BurnOutcome } from '../ports.js'
import {
  type Burn,
  type Challenge,
  type ClaimedPermit,
  isForOtherSender,
  type Payment,
  type Released,
} from '../records.js'
import { acceptedEvent, type Report } from '../report.js'

export type BurnEnd =
  /** `hold` is for the caller that waited for it here. */
  | { readonly kind: 'accepted'; readonly hold?: Hold | undefined }
  /** `isOpen`: the claim stays, because a transaction that was recorded before may still burn for it. */
  | {
      readonly kind: 'failed'
      readonly rejection: Rejection
      readonly txHash?: TxHash
      readonly isOpen?: boolean
    }

/** Failures of the chain, the relayer or the disk, not of the burn. */
const temporaryFailures: ReadonlySet<string> = new Set([
  'chain_unavailable',
  'relayer_busy',
  'storage_unavailable',
])

export type RunBurnDeps = {
  readonly burner: Pick<Burner, 'burn'>
  readonly ledger: Pick<
    Ledger,
    'find' | 'accept' | 'acceptAwaited' | 'release' | 'demote' | 'moveBurn' | 'burnFailed'
  >
  /** The account that sends here, where several do. */
  readonly account?: Address | undefined
  readonly clock: Clock
  readonly report: Report
  /** Pauses before a burn that broke off, or was demoted, is tried again: the first, and the longest. */
  readonly retryMs: { readonly first: number; readonly max: number }
  /** Ends these pauses. After that nothing is tried again, and no claim released: the next sender may have signed for it. */
  readonly closing: AbortSignal
}

export function createRunBurn(deps: RunBurnDeps) {
  const { ledger, report } = deps
  const retryUntilMined = createRetryUntilMined(deps)

  /**
   * A follower of the chain may have seen the burn that the burner did not see. The ledger's record counts.
   */
  async function endKept(item: ClaimedPermit, outcome: BurnOutcome & { kind: 'failed' }): Promise<BurnEnd> {
    const payment = await ledger.find(item.challenge.nonce)
    if (payment?.accepted) return { kind: 'accepted' }
    if (payment?.demoted) return retryUntilMined(item, outcome)
    return { ...outcome, isOpen: isClaimOf(payment, item, deps.account) }
  }

  /** Runs a burn that no block holds any more. Its payment cannot be finalized until a block holds it again. */
  async function runAgain(item: ClaimedPermit, burned: Promise<BurnOutcome>): Promise<BurnEnd> {
    const { nonce } = item.challenge
    // A burn that was not accepted bought nothing. If its payload is sent again, the burn is found.
    await demote(deps, nonce)
    const isAwaited = (await ledger.find(nonce))?.demoted !== undefined
    const outcome = await burned
    if (isAwaited) return retryUntilMined(item, outcome)
    return outcome.kind === 'burned' ? { kind: 'accepted' } : outcome
  }

  return {
    /** Runs a burn from its claim on. A burn that surely did not happen frees its challenge. */
    async run(item: ClaimedPermit, burned: Promise<BurnOutcome>, isAwaited: () => boolean): Promise<BurnEnd> {
      const { nonce } = item.challenge
      const outcome = await burned
      if (outcome.kind === 'burned') return accept(deps, item.challenge, outcome.burn, isAwaited())
      const isDemoted = (await ledger.find(nonce))?.demoted !== undefined
      if (deps.closing.aborted) throw new SvcError('lease_lost', 'whoever sends next takes the burn up')
      if (isDemoted) return retryUntilMined(item, outcome)
      // Such a failure says nothing of a transaction before this one, or of one whose record was written while only the
      // answer to that got lost.
      const unsigned = temporaryFailures.has(outcome.rejection.reason) && !outcome.isDisplaced
      const sureOf = { unsigned, sender: deps.account, identity: Payload.identity(item.payload) }
      // Noted before the claim is free: its payer has the next burn relayed the moment it is.
      if (outcome.spentGas) await ledger.burnFailed(item.payload.payer)
      const released = await ledger.release(nonce, releasedBy(outcome), sureOf)
      if (released === 'kept') return endKept(item, outcome)
      report({ event: 'burn.failed', challengeNonce: nonce, reason: outcome.rejection.reason })
      return outcome
    },

    runAgain,

    /** Follows a burn whose transaction is in another block. The burn has another place there, or failed. */
    async follow(item: ClaimedPermit, burned: Promise<BurnOutcome>): Promise<BurnEnd> {
      const { nonce } = item.challenge
      const outcome = await burned
      if (outcome.kind === 'failed') return runAgain(item, burned)
      const payment = await ledger.find(nonce)
      if (payment?.accepted) await ledger.moveBurn(nonce, outcome.burn)
      return { kind: 'accepted' }
    },
  }
}

/** Whether the payment is still claimed by this payload, for this account. Another permit may have claimed it since. */
export function isClaimOf(
  payment: Payment | undefined,
  { payload }: ClaimedPermit,
  account: Address | undefined,
): boolean {
  const { claim } = payment ?? {}
  const isSame =
    claim?.identity === Payload.identity(payload) && claim.permit?.permitNonce === payload.permit.nonce
  return isSame && !isForOtherSender(claim, account)
}

const releasedBy = ({ rejection, txHash }: BurnOutcome & { kind: 'failed' }): Released => ({
  reason: rejection.reason,
  message: rejection.message,
  txHash,
})

async function accept(
  { ledger, report }: Pick<RunBurnDeps, 'ledger' | 'report'>,
  challenge: Challenge,
  burn: Burn,
  isAwaited: boolean,
): Promise<BurnEnd> {
  const { nonce } = challenge
  const { outcome, hold } = isAwaited
    ? await ledger.acceptAwaited(nonce, burn)
    : { outcome: await ledger.accept(nonce, burn) }
  if (outcome === 'accepted') report(acceptedEvent(challenge, burn))
  return { kind: 'accepted', ...(hold && { hold }) }
}

/**
 * Tries the burn of a payment again that was accepted once, because a resource may have been served for it: temporary
 * failures are waited out. The claim stays in any case, because releasing it would erase which burn the payment had.
 */
function createRetryUntilMined(
  deps: RunBurnDeps,
): (item: ClaimedPermit, outcome: BurnOutcome) => Promise<BurnEnd> {
  const { burner, ledger, clock, report, retryMs, closing } = deps
  return async (item, outcome) => {
    const { nonce } = item.challenge
    let last = outcome
    for (
      let failures = 1;
      last.kind === 'failed' && temporaryFailures.has(last.rejection.reason);
      failures++
    ) {
      await clock.sleep(backOffMs(failures, retryMs.first, retryMs.max), closing)
      if (closing.aborted) throw new SvcError('closed', 'the facilitator closed before the burn came back')
      // A block that holds the burn may have been found meanwhile.
      if ((await ledger.find(nonce))?.accepted) return { kind: 'accepted' }
      last = await burner.burn(item)
    }
    if (last.kind === 'burned') return accept(deps, item.challenge, last.burn, false)
    report({ event: 'burn.lost', challengeNonce: nonce, reason: last.rejection.reason })
    return last
  }
}
