/** Every bound of the payer, with its unit. */
export const defaultLimits = {
  /** How far ahead a signature may stay usable. A stolen or withheld one is worthless afterwards. */
  signatureSecondsMax: 3_600,
  /**
   * How long an unfinished payment keeps its permit nonce from the next one. As long as a client waits for
   * an answer by default; with `deliverPayments` the end of a payment is known and this is never reached.
   */
  nonceHoldMsMax: 30_000,
  noncePollMs: 250,
  /** A self-transfer is not begun when less than this is left: a burn mined too late buys nothing. */
  transferSecondsMin: 5,
  receiptWaitMsMax: 60_000,
  receiptPollMs: 250,
  /** Estimates run before the block the transfer lands in; its tree update may then cost more. */
  gasHeadroomPercent: 25,
  /** A transfer takes far less; whoever estimates more has a broken node or a token with a surprise in it. */
  transferGasMax: 1_000_000,
  /** How often one payload is sent again while its burn is pending. */
  resendsMax: 5,
  resendDelayMs: 1_000,
  /** Payments remembered at once. Reaching it refuses new payments; it never forgets an unexpired one. */
  paymentsMax: 10_000,
  /** How long a payment is remembered past the expiry of its offer: a burn can be mined late. */
  retentionSeconds: 3_600,
  /** Helpers whose code was looked at and found good. */
  helpersKnownMax: 1_000,
  /** Offers whose request is remembered until one of them is paid. */
  offersSeenMax: 1_000,
  rpcTimeoutMs: 10_000,
  rpcRetriesMax: 1,
} as const

export type PayerLimits = { readonly [Name in keyof typeof defaultLimits]: number }
