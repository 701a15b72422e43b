/** Every bound of the payer, with its unit. */
export const defaultLimits = {
  /** How far ahead a signature may stay usable. A stolen or withheld one is worthless afterwards. */
  signatureSecondsMax: 86_400,
  /** How far ahead an offer may expire. A payment is remembered until then. */
  offerSecondsMax: 2_592_000,
  /**
   * How long an unanswered payment keeps its permit nonce from the next payment. After that, both carry the
   * same nonce: only one of them can burn, and the other is signed again.
   */
  nonceHoldMsMax: 10_000,
  /**
   * How long it keeps a nonce that a payment already held too long, so that many silent sellers cost little more
   * than one.
   */
  contestedHoldMsMax: 1_000,
  /** How long a human's yes counts, up to the last signature that is made with it. */
  approvalMsMax: 300_000,
  /** How long a payment waits to see on the chain that another payment used its nonce. */
  nonceMoveMsMax: 30_000,
  noncePollMs: 250,
  /** How often a permit is signed again because another payment used its nonce. */
  resignsMax: 2,
  /**
   * A self-transfer is begun only when its offer lives this much longer. A burn that is mined and presented too late buys
   * nothing.
   */
  transferSecondsMin: 60,
  /** How often a fresh offer is asked for when one leaves too little time. */
  freshOffersMax: 2,
  /** Redirects that an unpaid request follows. A paid one follows none. */
  redirectsMax: 5,
  /**
   * Longest wait for the complete head of an answer, to a payment as well, and for the next piece of its body. A seller
   * waits up to 15 s for a burn. A payment that took longer is presented again. Also the longest wait for the whole answer
   * of the RPC endpoint, with all tries.
   */
  answerMsMax: 30_000,
  /** Largest body of a 402. */
  refusalBytesMax: 1_048_576,
  /** Largest body of any other answer, decoded. */
  resourceBytesMax: 104_857_600,
  /** Longest time for the whole of such a body. */
  resourceMsMax: 600_000,
  /**
   * Bought answers that are kept until they are handed over: how many, how many bytes together, and for how long. Beyond
   * a bound the oldest are removed.
   */
  keptAnswersMax: 100,
  keptBytesMax: 1_073_741_824,
  keptSecondsMax: 604_800,
  /** How long the chain is asked for a burn that a seller names. The payer's node may lag behind the seller's. */
  burnSearchMsMax: 2_000,
  receiptWaitMsMax: 60_000,
  receiptPollMs: 250,
  /** Added to the gas estimate: the transfer may land in a later block, where its tree update costs more. */
  gasHeadroomPercent: 25,
  /** A transfer takes far less. A higher estimate means a broken node or a token that does something else. */
  transferGasMax: 1_000_000,
  /** Longest wait for another process that signs a transaction of the same account. */
  queueWaitMsMax: 60_000,
  /** Blocks above one that used the txNonce of a transfer, after which the transfer counts as impossible. */
  settledBlocks: 12,
  /** How often one payload is sent again while its burn is pending. */
  resendsMax: 5,
  resendDelayMs: 1_000,
  /**
   * Most payments that wait at one host for their answers. Beyond it new payments to this host are refused; an unexpired
   * one is never forgotten.
   */
  paymentsPerHostMax: 10_000,
  /** Most payments to one host whose amounts are reserved at once, because no burn was seen yet. */
  reservedPerHostMax: 1_000,
  /** Longest wait for a look at what became of reserved amounts, and the pause between two looks beside purchases. */
  reconcileMsMax: 10_000,
  reconcilePauseMs: 60_000,
  /** How long a payment is remembered after nothing can be signed for it any more: a burn can be mined late. */
  retentionSeconds: 3_600,
  /** Most helpers remembered whose code was found good. */
  helpersKnownMax: 1_000,
  /** Offers whose request is remembered until one of them is paid. */
  offersSeenMax: 1_000,
  /** How often the RPC endpoint is asked again within `answerMsMax`, after a broken connection or a busy node. */
  rpcRetriesMax: 1,
  rpcRetryDelayMs: 150,
  /** Largest answer of the RPC endpoint, to several calls at once. */
  rpcAnswerBytesMax: 4_194_304,
  /** Longest wait for the label of a token: an amount is shown in base units, too. */
  labelMsMax: 2_000,
} as const

export type PayerLimits = { readonly [Name in keyof typeof defaultLimits]: number }

/** The limits of a payer whose operator says how long an answer may take, and perhaps more. */
export const limitsFor = (timeoutMs: number, changes: Partial<PayerLimits> = {}): PayerLimits => ({
  ...defaultLimits,
  answerMsMax: timeoutMs,
  ...changes,
})
