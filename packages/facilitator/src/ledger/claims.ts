/** Claims: one payload for each challenge, and no more than a payer's means cover. */
import { Payload } from '@svc-zerc20/protocol'
import type { Ledger } from '../payment/ledger-port.js'
import type { Challenge, PayerMeans } from '../payment/records.js'
import { judgeMeans } from '../payment/settle/judge.js'
import type { LedgerCore } from './core.js'
import { claimedPayload } from './events/events.js'
import type { PaymentRecord } from './state/payment-record.js'

export function createClaims(core: LedgerCore): Pick<Ledger, 'claim' | 'openClaims' | 'release'> {
  const { state, log, open, openClaims } = core

  /** The reason against a permit, given the payer's other open claims; undefined when it can be claimed. */
  function refusalOf(challenge: Challenge, payload: Payload.Payload, means: PayerMeans | undefined) {
    if (payload.kind !== 'permit') return undefined
    const claims = openClaims.of(payload.payer)
    if (means) return judgeMeans(challenge, payload, means, claims)
    const isInUse = claims.some(({ permitNonce }) => permitNonce === payload.permit.nonce)
    return isInUse ? 'permit_nonce_in_use' : undefined
  }

  function undoClaim({ challenge, late }: PaymentRecord): void {
    openClaims.end(challenge.nonce)
    state.apply({ event: 'claim_released', nonce: challenge.nonce })
    // A challenge with a late burn is kept for good, and is not open again.
    if (!late) open.add(challenge)
  }

  /** A payment that is accepted, or was before a reorg, keeps its claim: news that its burn failed came too late. */
  function releasable(payment: Readonly<PaymentRecord> | undefined): payment is PaymentRecord {
    return payment?.claim !== undefined && !payment.accepted && !payment.demoted
  }

  return {
    async claim(nonce, payload, ticketed = false, means) {
      const payment = state.find(nonce)
      if (!payment || core.isForgotten(payment)) return 'forgotten'
      const identity = Payload.identity(payload)
      if (payment.claim) {
        const isSame = payment.claim.identity === identity
        // The first claim may still be on its way to the disk.
        if (isSame) await log.durable()
        return isSame ? 'same_payload' : 'other_payload'
      }
      const refusal = refusalOf(payment.challenge, payload, means)
      if (refusal !== undefined) return refusal
      const claimed = { nonce, identity, ticketed, payload: claimedPayload(payload) }
      const event = { event: 'payment_claimed', ...claimed } as const
      state.apply(event)
      openClaims.add(payment.challenge, payload)
      core.closeChallenge(nonce)
      try {
        await log.append(event)
      } catch (error) {
        undoClaim(payment)
        throw error
      }
      return 'claimed'
    },

    openClaims: async (payer) => openClaims.of(payer),

    async release(nonce) {
      if (!releasable(state.find(nonce))) return 'kept'
      await log.append({ event: 'claim_released', nonce })
      const payment = state.find(nonce)
      if (!releasable(payment)) return 'kept'
      undoClaim(payment)
      return 'released'
    },
  }
}
