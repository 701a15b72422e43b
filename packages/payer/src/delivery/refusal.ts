/** The error that tells a caller why a payment did not buy its answer. */
import { parseTxHash, reasons } from '@svc-zerc20/protocol'
import { PayerError } from '../payer-error.js'
import { type Answer, type Outcome, refusalOf, wasUsed } from '../payment/outcome.js'
import type { PaymentRecord } from '../payment/payment-memory.js'
import { printable } from '../printable.js'

const saidCharsMax = 200

const todoAfter = {
  never: 'Do not repeat it as it is.',
  fresh_offer: 'Make the request again to pay a fresh offer.',
  same_payload: 'Make the same request again: this payment is presented first.',
  later: 'Make the same request again later: this payment is presented first.',
} as const

/** The error for a payment that was answered with a 402. */
export function refusalError(
  record: PaymentRecord,
  answer: Answer,
  outcome: Outcome,
  cause?: unknown,
): PayerError {
  const { reason, said } = refusalOf(answer)
  const burnTxHash = burnOf(record, answer)
  const what = `challenge ${record.challengeNonce}`
  const why = reason
    ? `${reason}: ${withoutStop(reasons[reason].help)}`
    : `the seller said "${printable(said, saidCharsMax)}"`
  const facts = { reason, burnTxHash, cause }
  if (wasUsed(answer)) return new PayerError('payment_used', what, facts)
  if (outcome === 'refused' || outcome === 'sign_again') {
    const todo = reason && todoAfter[reasons[reason].retry]
    return new PayerError('payment_refused', `${what}: ${why}`, { ...facts, todo })
  }
  return new PayerError('payment_pending', `${what}: ${why}`, facts)
}

/** Our own transfer, or the burn the seller names. */
export const burnOf = (record: PaymentRecord, answer: Answer) =>
  record.burn?.hash ?? parseTxHash(answer.settleResponse?.transaction)

const withoutStop = (sentence: string) => sentence.replace(/\.$/, '')
