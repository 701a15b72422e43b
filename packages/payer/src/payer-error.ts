import { CodedError, SvcError, type TxHash } from '@svc-zerc20/protocol'

/** The exit codes of `svc-pay`. */
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
  2: 'a mistake in the command line or the environment; correct it first',
  3: 'refused by a rule of the policy; nothing was signed',
  4: 'not approved by a human; nothing was signed',
  5: 'failed; the error says what became of the money',
  6: 'pending: money may be on its way; svc-pay resume, or the same request again, goes on with it',
  7: 'the statement is not valid; the reason is printed',
}

/**
 * Every way the payer itself refuses or fails: what it means for the money, what to do, and how `svc-pay` exits unless it
 * is as failed.
 */
export const payerErrors = {
  offer_malformed: {
    means: 'The offer is not a well-formed svc-zerc20 offer of x402 version 2; nothing was signed.',
    todo: 'Tell the seller.',
  },
  offer_network: {
    exit: 'refused',
    means: 'The offer names another network than this payer is for; nothing was signed.',
    todo: 'Use a payer for that network, if you mean to pay there.',
  },
  offer_token: {
    exit: 'refused',
    means: 'The token is not one this payer may spend; nothing was signed.',
    todo: 'Set SVC_ALLOWED_TOKEN or allowedTokens to it, if you mean to spend it.',
  },
  offer_helper: {
    exit: 'refused',
    means: 'The helper contract is not one this payer trusts; nothing was signed.',
    todo: 'Add it to allowedHelpers only if you know its code, or pay by self-transfer.',
  },
  offer_amount: {
    exit: 'refused',
    means: 'The amount is above what one payment may cost; nothing was signed.',
    todo: 'Raise SVC_MAX_PER_PAYMENT or maxAmountPerPayment, if it is worth that to you.',
  },
  offer_expired: {
    means: 'The offer expired, or does not leave the time its payment needs; nothing was signed.',
    todo: 'Make the request again to fetch a fresh 402.',
  },
  offer_deadline: {
    exit: 'refused',
    means: 'The signatures would be missing a deadline or stay usable for too long; nothing was signed.',
    todo: 'Tell the seller.',
  },
  offer_changed: {
    exit: 'refused',
    means:
      'The challenge was offered under other terms, or for another request, before; nothing was signed for this one.',
    todo: 'Do not pay this seller again without looking.',
  },
  permit_not_offered: {
    exit: 'refused',
    means: 'The offer has no gasless path and this payer has no fallback; nothing was signed.',
    todo: "Set fallback: 'self-transfer' to pay with gas of your own.",
  },
  permit_nonce_unmoved: {
    means: 'The seller says that another payment used this permit nonce, and the chain does not show it.',
    todo: 'Make the request again later; nothing more was signed.',
  },
  host_refused: {
    exit: 'refused',
    means: 'No request leaves for a host that is not allowed; nothing was sent there.',
    todo: 'Add the host to SVC_ALLOWED_HOSTS or allowedHosts, if you mean to speak to it.',
  },
  total_exceeded: {
    exit: 'refused',
    means: 'All payments in this token together would pass their cap; nothing was signed.',
    todo: 'Raise SVC_MAX_TOTAL, if it is worth that to you.',
  },
  host_total_exceeded: {
    exit: 'refused',
    means: 'All payments to this host together would pass their cap; nothing was signed.',
    todo: 'Raise SVC_MAX_PER_HOST, if it is worth that to you.',
  },
  day_total_exceeded: {
    exit: 'refused',
    means: 'The payments of the last 24 hours would pass their cap; nothing was signed.',
    todo: 'Wait, or raise SVC_MAX_PER_DAY, if it is worth that to you.',
  },
  not_signed: {
    exit: 'refused',
    means: 'Nothing was signed for this payment before, and resuming signs nothing.',
    todo: 'Make the same request again to pay for it.',
  },
  not_approved: {
    exit: 'notApproved',
    means: 'This payment needs the approval of a human and did not get it; nothing was signed.',
    todo: 'Ask the operator, then make the request again.',
  },
  key_missing: {
    exit: 'usage',
    means: 'Paying needs the key of an account; nothing was signed.',
    todo: 'Set SVC_PAYER_PK, or give createPayer an account.',
  },
  not_offered: {
    means: 'The seller wants a payment and offers no way that this payer knows; nothing was signed.',
    todo: 'Tell the seller, or pay with another client.',
  },
  state_unusable: {
    means: 'The state folder cannot be used, so that limits could not be kept; no payment left this process.',
    todo: 'Repair the folder. Another one knows nothing of payments under way: whoever uses it may pay twice.',
  },
  redirect_refused: {
    exit: 'refused',
    means: 'A payment is made only to the URL that asked for it, on the origin that was requested.',
    todo: 'Request the final URL itself, if you mean to pay there.',
  },
  answer_timeout: {
    means: 'The seller did not answer in time, and the connection was closed.',
    todo: 'Try again later, or raise the limits of the payer.',
  },
  answer_too_large: {
    means: 'The seller sent more than this payer takes, and the connection was closed.',
    todo: 'Raise the limits of the payer, if you expect that much.',
  },
  wrong_chain: {
    means: 'The RPC endpoint serves another chain than the offer is for; nothing was signed.',
    todo: 'Correct SVC_RPC_URL or SVC_ALLOWED_NETWORK (rpcUrl or network in code).',
  },
  chain_unavailable: {
    means: 'The RPC endpoint did not answer what was needed; nothing was signed.',
    todo: 'Check SVC_RPC_URL (rpcUrl in code), then make the request again.',
  },
  memory_full: {
    means: 'Too many payments wait at this host to begin another there; nothing was signed.',
    todo: 'Run svc-pay resume, wait until their offers expire, or raise limits.paymentsPerHostMax.',
  },
  signature_unusable: {
    means: 'The account did not produce a 65-byte signature; contract wallets cannot pay here.',
    todo: 'Pay from an externally owned account.',
  },
  no_tokens: {
    means: 'The account holds less of the token than the amount; nothing was signed.',
    todo: 'Fund the account with the token.',
  },
  no_gas: {
    means: 'The account cannot pay the gas of the transfer; nothing was burned.',
    todo: 'Fund the account with native money, or pay by permit.',
  },
  transfer_reverts: {
    means: 'The token would refuse this transfer; nothing was signed.',
    todo: 'Look at the token: it may be paused, or block one of the addresses.',
  },
  gas_exceeded: {
    exit: 'refused',
    means: 'The gas of the transfer may cost more than one payment may; nothing was signed.',
    todo: 'Raise SVC_MAX_GAS_WEI or maxGasWei, if it is worth that to you, or pay by permit.',
  },
  account_busy: {
    means: 'Another process signs a transaction of this account; nothing was signed.',
    todo: 'Make the request again.',
  },
  transfer_refused: {
    means:
      'The node refused the transfer, or it would take an unreasonable amount of gas; nothing was signed.',
    todo: 'Read what the node said, then make the request again.',
  },
  burn_reverted: {
    means:
      'The burn transaction was mined and reverted; only its gas was spent. Its amount counts as spent until another transfer took its place.',
    todo: 'Make the request again to pay a fresh offer.',
  },
  burn_missed: {
    means:
      'A burn that was signed before cannot pay its offer any more. Its amount counts as spent until the chain shows that it was not.',
    todo: 'Make the request again to pay a fresh offer.',
  },
  burn_unconfirmed: {
    exit: 'pending',
    means: 'The burn was signed and no receipt of its success was seen. It may still be mined.',
    todo: 'Ask again for this payment; do not pay a second time.',
  },
  payment_unanswered: {
    exit: 'pending',
    means: 'The payment was sent and no answer came. It may or may not have been taken.',
    todo: 'Make the same request again: this payment is presented first, and nothing is paid twice.',
  },
  payment_refused: {
    means: 'The seller did not take the payment.',
    todo: 'See the reason.',
  },
  payment_pending: {
    exit: 'pending',
    means: 'A payment made for this request is not delivered yet; nothing new was signed.',
    todo: 'Make the same request again later: this payment is presented first.',
  },
  answer_half: {
    exit: 'pending',
    means:
      'The payment was taken, and its answer broke off. What came of it is kept where there is a state folder.',
    todo: 'Make the same request again: this payment is presented first. svc-pay resume does that, too.',
  },
  answer_kept: {
    exit: 'pending',
    means: 'The answer was paid for and came as a whole, but could not be handed over. It is kept.',
    todo: 'svc-pay resume writes it to a file; the same request again gives it out without asking the seller.',
  },
  payment_used: {
    means:
      'A payment made for this request was accepted, and its one answer was given and perhaps lost on its way. Nothing new was signed.',
    todo: 'Asking once more pays again.',
  },
} as const satisfies Record<
  string,
  { readonly exit?: keyof typeof exitCodes; readonly means: string; readonly todo: string }
>

export type PayerErrorCode = keyof typeof payerErrors

/** How `svc-pay` exits after an error. */
export function exitOf(error: unknown): keyof typeof exitCodes {
  if (error instanceof PayerError) return { exit: 'failed' as const, ...payerErrors[error.code] }.exit
  return error instanceof SvcError && error.code === 'payer_misconfigured' ? 'usage' : 'failed'
}

type Facts = {
  readonly burnTxHash?: TxHash | undefined
  /** The facilitator's word for a refusal, one of `reasons` of the protocol. */
  readonly reason?: string | undefined
  /** Advice for this case, where it differs from the advice for the code. */
  readonly todo?: string | undefined
  /** The rule of the policy that refused. */
  readonly rule?: RefusedRule | undefined
  readonly cause?: unknown
}

/** A rule of the policy that refused, what it allows and what was asked. */
export type RefusedRule = { readonly rule: string; readonly limit: string; readonly asked: string }

/**
 * A payment that this side refused or could not make. Code, advice and burn hash also stand in the message,
 * because the official clients hand on only the message.
 */
export class PayerError extends CodedError<PayerErrorCode> {
  override readonly name = 'PayerError'
  /** The facts of this case. */
  readonly detail: string
  /** Advice in one sentence. */
  readonly todo: string
  readonly reason: string | undefined
  /** Set when a burn transaction exists: look there before paying again. */
  readonly burnTxHash: TxHash | undefined
  readonly rule: RefusedRule | undefined

  constructor(code: PayerErrorCode, detail: string, facts: Facts = {}) {
    const { means, todo } = payerErrors[code]
    const advice = facts.todo ?? todo
    const burn = facts.burnTxHash === undefined ? '' : ` Burn transaction: ${facts.burnTxHash}.`
    super(code, `${code}: ${detail}. ${means} ${advice}${burn}`, { cause: facts.cause })
    this.detail = detail
    this.todo = advice
    this.reason = facts.reason
    this.burnTxHash = facts.burnTxHash
    this.rule = facts.rule
  }
}

/** Errors that say by themselves what became of the money of a signed payment. */
const isOfPayment = ({ code }: PayerError) => /^((burn|payment)_|answer_(half|kept)$|not_signed$)/.test(code)

/**
 * The error of a payment for which something was signed, whatever failed. Its money may be on the way, so an error that speaks
 * of something else becomes one that says so, and names the burn.
 */
export function afterSigning(error: unknown, what: string, burnTxHash: TxHash | undefined): PayerError {
  if (error instanceof PayerError && isOfPayment(error)) return error
  const why = error instanceof PayerError ? `${error.code}: ${error.detail}` : (error as Error).message
  const todo = error instanceof PayerError && error.code !== 'state_unusable' ? error.todo : undefined
  const again = payerErrors.payment_pending.todo
  return new PayerError('payment_pending', `${what}: ${why}`, {
    burnTxHash,
    rule: error instanceof PayerError ? error.rule : undefined,
    cause: error,
    todo: todo && `${todo} ${again}`,
  })
}
