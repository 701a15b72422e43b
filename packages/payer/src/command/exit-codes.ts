/** The exit codes of `svc-pay`. */
import { SvcError } from '@svc-zerc20/protocol'
import { PayerError, type PayerErrorCode } from '../payer-error.js'
import type { End } from '../payment/outcome.js'

export const exitCodes = {
  ok: 0,
  usage: 2,
  refused: 3,
  notApproved: 4,
  failed: 5,
  pending: 6,
  notValid: 7,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export const exitCodeWords: Readonly<Record<ExitCode, string>> = {
  0: 'done: paid, or nothing had to be paid',
  2: 'a mistake in the command line or the environment; mend it first',
  3: 'refused by a rule of the policy; nothing was signed',
  4: 'not approved by a human; nothing was signed',
  5: 'failed; the error says what became of the money',
  6: 'pending: money may be on its way; svc-pay resume, or the same request again, goes on with it',
  7: 'the proof is not valid; the reason is printed',
}

const codes: Partial<Record<PayerErrorCode, ExitCode>> = {
  host_refused: exitCodes.refused,
  offer_network: exitCodes.refused,
  offer_token: exitCodes.refused,
  offer_helper: exitCodes.refused,
  offer_amount: exitCodes.refused,
  offer_deadline: exitCodes.refused,
  offer_changed: exitCodes.refused,
  permit_not_offered: exitCodes.refused,
  total_exceeded: exitCodes.refused,
  host_total_exceeded: exitCodes.refused,
  day_total_exceeded: exitCodes.refused,
  gas_exceeded: exitCodes.refused,
  redirect_refused: exitCodes.refused,
  not_signed: exitCodes.refused,
  not_approved: exitCodes.notApproved,
  key_missing: exitCodes.usage,
  burn_unconfirmed: exitCodes.pending,
  payment_unanswered: exitCodes.pending,
  payment_pending: exitCodes.pending,
  answer_half: exitCodes.pending,
  answer_kept: exitCodes.pending,
}

/** The exit code of a purchase that ended with an answer. */
export const exitCodeOfEnd: Readonly<Record<End, ExitCode>> = {
  free: exitCodes.ok,
  paid: exitCodes.ok,
  pending: exitCodes.pending,
  failed: exitCodes.failed,
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof PayerError) return codes[error.code] ?? exitCodes.failed
  return error instanceof SvcError && error.code === 'payer_misconfigured'
    ? exitCodes.usage
    : exitCodes.failed
}
