import { SvcError, type TxHash } from '@svc-zerc20/protocol'

/** Every way the payer itself refuses or fails, and what it means for the money. */
export const payerErrors = {
  offer_malformed: 'The offer is not a well-formed svc-zerc20 offer of x402 version 2; nothing was signed.',
  offer_network: 'The offer names another network than this payer is for; nothing was signed.',
  offer_token: 'The token is not one this payer may spend; nothing was signed.',
  offer_helper: 'The helper contract is not one this payer trusts; nothing was signed.',
  offer_amount: 'The amount is above what one payment may cost; nothing was signed.',
  offer_expired: 'The offer expired or is about to; fetch a fresh 402. Nothing was signed.',
  offer_deadline:
    'The signatures would be missing a deadline or stay usable for too long; nothing was signed.',
  offer_changed: 'The challenge was paid for under other terms before; nothing more was signed.',
  permit_not_offered: 'The offer has no gasless path and this payer has no fallback; nothing was signed.',
  wrong_chain: 'The RPC endpoint serves another chain than the offer is for; nothing was signed.',
  chain_unavailable: 'The RPC endpoint did not answer what was needed; nothing was signed.',
  memory_full: 'Too many unexpired payments are remembered to begin another; nothing was signed.',
  signature_unusable: 'The account did not produce a 65-byte signature; contract wallets cannot pay here.',
  transfer_refused: 'The transfer would fail or the node refused it; nothing was burned.',
  burn_reverted: 'The burn transaction was mined and reverted; only its gas was spent.',
  burn_unconfirmed:
    'The burn was sent but no receipt was seen in time. It may still be mined: ask again for this payment, do not pay anew.',
  payment_pending:
    'A payment made for this request is not delivered yet. Ask again later; nothing new was signed.',
  payment_used:
    'A payment made for this request was accepted, and its one answer was given and perhaps lost on its way. Nothing new was signed; asking once more pays anew.',
} as const satisfies Record<string, string>

export type PayerErrorCode = keyof typeof payerErrors

/**
 * A payment that this side refused or could not make. The code and the burn hash also stand in the message,
 * because the official clients hand on only the message.
 */
export class PayerError extends SvcError {
  declare readonly code: PayerErrorCode
  /** Set when a burn transaction exists: look there before paying again. */
  readonly burnTxHash: TxHash | undefined

  constructor(
    code: PayerErrorCode,
    detail: string,
    options: { readonly burnTxHash?: TxHash; readonly cause?: unknown } = {},
  ) {
    const burn = options.burnTxHash === undefined ? '' : ` Burn transaction: ${options.burnTxHash}.`
    super(code, `${code}: ${detail}. ${payerErrors[code]}${burn}`, { cause: options.cause })
    this.name = 'PayerError'
    this.burnTxHash = options.burnTxHash
  }
}
