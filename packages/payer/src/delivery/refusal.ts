/** The error that tells a caller why a payment did not buy its answer. */
import { reasons, type TxHash } from '@svc-zerc20/protocol'
import { PayerError } from '../payer-error.js'
import { type Answer, type Outcome, outcomes, refusalOf } from '../payment/outcome.js'
import type { PaymentRecord } from '../payment/payment-memory.js'
import { printable } from '../printable.js'

const saidCharsMax = 200

const todoAfter = {
  never: 'Do not repeat it as it is.',
  fresh_offer: 'Make the request again to pay a fresh offer.',
  same_payload: 'Make the same request again: this payment is presented first.',
  later: 'Make the same request again later: this payment is presented first.',
} as const

/** The error for a payment that did not buy its answer. Only a burn that the chain has is named. */
export function refusalError(
  { record, answer, outcome, burn }: RefusedPayment,
  { cause, isPaid = false }: { readonly cause?: unknown; readonly isPaid?: boolean } = {},
): PayerError {
  const { reason, said } = refusalOf(answer)
  const what = `challenge ${record.challengeNonce}`
  const paid = isPaid ? '; its burn is on the chain, so this was paid for' : ''
  const { code = 'payment_pending' } = { code: undefined, ...outcomes[outcome] }
  const facts = { reason, burnTxHash: burn, cause }
  if (code === 'payment_used') return new PayerError(code, what, facts)
  const todo = code === 'payment_refused' ? reason && todoAfter[reasons[reason].retry] : undefined
  return new PayerError(code, `${what}: ${whyOf(answer, reason, said)}${paid}`, { ...facts, todo })
}

export type RefusedPayment = {
  readonly record: PaymentRecord
  readonly answer: Answer
  readonly outcome: Outcome
  /** Our own transfer, or the burn that the seller names and the chain has. */
  readonly burn: TxHash | undefined
}

function whyOf({ status }: Answer, reason: ReturnType<typeof refusalOf>['reason'], said: string): string {
  if (reason) return `${reason}: ${withoutStop(reasons[reason].help)}`
  if (said !== '' || status === 402) return `the seller said "${printable(said, saidCharsMax)}"`
  return `the seller answered ${status}`
}

const withoutStop = (sentence: string) => sentence.replace(/\.$/, '')
