/** The change that an event makes to its payment. A plain function: at run time and in a replay it gives the same. */
import type { UnixSeconds } from '@svc-zerc20/protocol'
import { type Claim, type Payment, payerOf } from '../payment/records.js'
import type { LedgerEvent } from './events.js'

/** Events that change one payment. */
export type PaymentEvent = Extract<
  LedgerEvent,
  {
    event:
      | 'payment_claimed'
      | 'burn_signed'
      | 'claim_released'
      | 'payment_accepted'
      | 'payment_demoted'
      | 'burn_moved'
      | 'burn_late'
      | 'burn_unmatched'
      | 'grant_used'
      | 'payment_disclosed'
  }
>

/** The payment after the event; the same one when the event says nothing new of it. */
export function fold(payment: Payment, event: PaymentEvent, at: UnixSeconds): Payment {
  switch (event.event) {
    case 'payment_claimed':
      return payment.accepted ? payment : { ...payment, claim: claimOf(event) }
    case 'burn_signed':
      return payment.claim
        ? { ...payment, claim: { ...payment.claim, txHash: event.transaction.hash } }
        : payment
    case 'claim_released':
      return payment.accepted ? payment : released(payment)
    case 'payment_accepted':
      return payment.accepted ? payment : accepted(payment, { burn: event.burn, at })
    case 'payment_demoted':
      return payment.accepted ? demoted(payment, payment.accepted) : payment
    case 'burn_moved':
      return moved(payment, event)
    case 'burn_late':
      return dropDisclosureOfOther(payment, {
        ...payment,
        late: { burn: event.burn, reason: event.reason, at },
      })
    case 'burn_unmatched': {
      const { txHash, reason } = event
      return { ...payment, unmatched: [...(payment.unmatched ?? []), { txHash, reason, at }] }
    }
    case 'grant_used':
      return { ...payment, granted: true }
    case 'payment_disclosed':
      return payerOf(payment) === event.payer ? { disclosedAt: at, ...payment } : payment
  }
}

function claimOf({
  identity,
  ticketed,
  payload,
}: Extract<PaymentEvent, { event: 'payment_claimed' }>): Claim {
  const of =
    payload.kind === 'permit'
      ? { permit: { payer: payload.payer, permitNonce: payload.permit.nonce } }
      : { txHash: payload.burnTxHash }
  return { identity, ticketed, ...of }
}

const released = ({ claim: _, demoted: __, ...rest }: Payment): Payment => rest

function accepted(payment: Payment, by: NonNullable<Payment['accepted']>): Payment {
  const { claim, demoted: _, ...rest } = payment
  if (!claim) return payment
  // From now on the burn itself names its transaction.
  const { txHash: __, ...kept } = claim
  return dropDisclosureOfOther(payment, { ...rest, claim: kept, accepted: by })
}

function demoted({ accepted: _, ...payment }: Payment, lost: NonNullable<Payment['accepted']>): Payment {
  const claim = payment.claim && { claim: { ...payment.claim, txHash: lost.burn.txHash } }
  return { ...payment, ...claim, demoted: lost }
}

function moved(payment: Payment, { of, burn }: Extract<PaymentEvent, { event: 'burn_moved' }>): Payment {
  const known = payment[of]
  return known ? dropDisclosureOfOther(payment, { ...payment, [of]: { ...known, burn } }) : payment
}

/** A reorg or a larger burn can put another account into the place of the payer. That one has disclosed nothing. */
function dropDisclosureOfOther(before: Payment, { disclosedAt, ...after }: Payment): Payment {
  return disclosedAt === undefined || payerOf(before) !== payerOf(after) ? after : { ...after, disclosedAt }
}
