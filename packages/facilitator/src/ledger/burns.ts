/** Burns: accepted, taken back or moved by a reorg, late, or too small to count. */
import { type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import type { Ledger } from '../payment/ledger-port.js'
import type { Burn, Challenge, LateReason } from '../payment/records.js'
import type { LedgerCore } from './core.js'
import type { LedgerEvent } from './events/events.js'
import { awaitedBurnOf, type PaymentRecord } from './state/payment-record.js'

type BurnSteps =
  | 'recordSigned'
  | 'accept'
  | 'demote'
  | 'moveBurn'
  | 'demoted'
  | 'recordLate'
  | 'recordUnmatched'

export function createBurnRecords(core: LedgerCore): Pick<Ledger, BurnSteps> {
  const { state } = core
  return {
    recordSigned: (transaction, nonces) => core.journalled({ event: 'burn_signed', nonces, transaction }),
    accept: createAccept(core),
    demote: (nonce) => demote(core, nonce),

    async moveBurn(nonce, burn) {
      if (!awaitedBurnOf(mintable(core, nonce))) return
      await core.journalled({ event: 'burn_moved', nonce, burn })
    },

    async *demoted() {
      for (const { challenge, demoted } of state.demoted()) {
        if (demoted) yield { challenge, burn: demoted.burn }
      }
    },

    async recordLate(challenge, burn, reason) {
      const { accepted, late } = state.find(challenge.nonce) ?? {}
      // A burn that is recorded again is still one burn.
      if (burn.value <= (late?.value ?? accepted?.burn.value ?? 0n)) return 'known'
      await core.log.append(lateEvent(challenge, burn, reason))
      keepLate(core, challenge, burn, reason)
      return 'recorded'
    },

    async recordUnmatched(nonce, { txHash, reason }) {
      const payment = state.find(nonce)
      if (!payment) return 'forgotten'
      const { unmatched = [] } = payment
      if (unmatched.some((known) => known.txHash === txHash)) return 'known'
      const { perChallenge, total } = core.unmatchedMax
      if (unmatched.length >= perChallenge || state.unmatched().length >= total) return 'full'
      await core.journalled({ event: 'burn_unmatched', nonce, txHash, reason, at: core.nowSeconds() })
      return 'recorded'
    },
  }
}

/**
 * Accepts burns of one payment one after the other. A settle and the follower of the chain can find the same burn at the
 * same moment, and one record of it is enough.
 */
function createAccept(core: LedgerCore): Ledger['accept'] {
  const underWay = new Map<ChallengeNonce, ReturnType<Ledger['accept']>>()
  return async (nonce, burn) => {
    for (let other = underWay.get(nonce); other; other = underWay.get(nonce)) {
      await other.catch(() => undefined) // its caller is told; this one tries by itself
    }
    const accepting = accept(core, nonce, burn)
    underWay.set(nonce, accepting)
    try {
      return await accepting
    } finally {
      underWay.delete(nonce)
    }
  }
}

async function accept(core: LedgerCore, nonce: ChallengeNonce, burn: Burn): ReturnType<Ledger['accept']> {
  const { state } = core
  const { accepted, claim, challenge } = state.find(nonce) ?? {}
  if (accepted) return 'already_accepted'
  if (!claim || !challenge) return 'not_claimed'
  const event = { event: 'payment_accepted', nonce, burn, at: core.nowSeconds() } as const
  await core.log.append(event)
  const now = state.find(nonce)
  if (now?.accepted) return 'already_accepted'
  if (now?.claim?.identity !== claim.identity) {
    // The claim was released before this record, so that the burn is minted and buys nothing. A replay says the same.
    keepLate(core, challenge, burn, 'unrecorded')
    return 'not_claimed'
  }
  core.openClaims.end(nonce)
  state.apply(event)
  return 'accepted'
}

async function demote(core: LedgerCore, nonce: ChallengeNonce): ReturnType<Ledger['demote']> {
  const { state } = core
  const refusal = () => {
    const payment = state.find(nonce)
    if (payment?.finalized) return 'already_finalized'
    return payment?.accepted ? undefined : 'not_accepted'
  }
  const refused = refusal()
  if (refused !== undefined) return refused
  await core.log.append({ event: 'payment_demoted', nonce })
  const overtaken = refusal()
  if (overtaken !== undefined) return overtaken
  state.apply({ event: 'payment_demoted', nonce })
  const { challenge, claim } = state.find(nonce) ?? {}
  // The burn is to be executed again, and takes the same amount again.
  if (challenge && claim?.payload) core.openClaims.add(challenge, claim.payload.read())
  return 'demoted'
}

/** Throws when the payment has no burn that could have been minted. */
export function mintable(
  { state }: Pick<LedgerCore, 'state'>,
  nonce: ChallengeNonce,
): Readonly<PaymentRecord> {
  const payment = state.find(nonce)
  if (payment && (payment.accepted ?? payment.late)) return payment
  throw new SvcError('invariant', `no burn of ${nonce} is known that could have been minted`)
}

/** Keeps a late burn. From now on its payment is kept for good. */
function keepLate(core: LedgerCore, challenge: Challenge, burn: Burn, reason: LateReason): void {
  core.state.apply(lateEvent(challenge, burn, reason))
  core.closeChallenge(challenge.nonce)
}

const lateEvent = (challenge: Challenge, burn: Burn, reason: LateReason): LedgerEvent => ({
  event: 'burn_late',
  challenge,
  burn,
  ...(reason !== 'late' && { reason }),
})
