/** Refusals in words: the reason, a sentence about it, and what to do next. */
import { type ReasonCode, reasons } from '@svc-zerc20/protocol'

/** The body of a refusal. `error` and `reason` have the same names as in the facilitator's own bodies. */
export type Explanation = {
  readonly reason: string
  readonly error: string
  readonly action: string
  /** The burn, where there is one. */
  readonly transaction?: string
}

export type Refusal = {
  /** A code of the protocol's table, or a text of the official middleware. */
  readonly reason: string
  readonly message?: string | undefined
  readonly transaction?: string | undefined
}

type Retry = (typeof reasons)[ReasonCode]['retry']

const actions: Record<Retry, string> = {
  fresh_offer: 'Make a new payment for a new offer.',
  same_payload: 'Send the same payment again after a moment. Do not pay a second time.',
  later: 'Wait, then send the same payment again. Do not pay a second time.',
  never: 'Do not send this payment again: it will not be accepted.',
}

const showTheBurn = 'Do not pay again for the same thing: show the burn transaction to the seller.'

/** Actions for reasons that need more than a retry: money, another account, or the seller. */
const actionsOf: Partial<Record<ReasonCode, string>> = {
  insufficient_funds: 'Put the amount into the paying account, then make a new payment for a new offer.',
  contract_payer: 'Pay by self-transfer, or from an account that is no contract.',
  permit_not_offered: 'Pay a new offer by self-transfer.',
  already_accepted:
    'One payment buys one answer; make a new payment for another. If no answer ever came, show the burn transaction to the seller.',
  burn_underpaid: showTheBurn,
  burn_split: showTheBurn,
  burn_mismatch: 'Check that the transaction is the transfer to payTo, and send its hash.',
  challenge_expired:
    'Make a new payment for a new offer. If tokens were burned for this one, show the burn transaction to the seller.',
}

export const presentAgain = 'Present the same payment again. Do not pay a second time.'

/** Told while another presentation of the same offer is at work. */
export const paymentUnderWay: Explanation = {
  reason: 'payment_under_way',
  error: 'This payment was presented before and is still being answered.',
  action: presentAgain,
}

/** Told where a payment that is owed an answer comes with another request than the first time. */
export const paymentOwed: Explanation = {
  reason: 'payment_owed',
  error: 'This payment was accepted for another request, and is still owed the answer to that one.',
  action: 'Present the payment with the same request as the first time. Do not pay again.',
}

const isReason = (text: string): text is ReasonCode => Object.hasOwn(reasons, text)

/** Which kind of retry may help. A reason that is not in the table is final for its payload. */
export const retryOf = (reason: string): Retry => (isReason(reason) ? reasons[reason].retry : 'fresh_offer')

/** Whether the facilitator has looked at the payment. Otherwise it speaks of itself. */
export const isVerdict = (reason: string): boolean => retryOf(reason) !== 'later' && reason !== 'overloaded'

export function explain({ reason, message, transaction }: Refusal): Explanation {
  const known = isReason(reason) ? reasons[reason] : undefined
  return {
    reason,
    error: message ?? known?.help ?? reason,
    action: (isReason(reason) && actionsOf[reason]) || actions[retryOf(reason)],
    ...(transaction && { transaction }),
  }
}

/** The `error` of a 402, which holds one text: the code comes first, so that programs can read it. */
export function errorText(refusal: Refusal): string {
  if (!isReason(refusal.reason)) return refusal.reason
  const { reason, error, action } = explain(refusal)
  return `${reason}: ${error} ${action}`
}
