/**
 * Every bound of the plugin. A paid request is verify + handler + settle, and a payer waits 30 s for it by
 * default: the facilitator polls a receipt for 15 s, the settle call waits a little longer than that, and
 * recovery takes what is left.
 */
export const limits = {
  challengeTimeoutMs: 10_000,
  verifyTimeoutMs: 10_000,
  settleTimeoutMs: 17_000,
  statusTimeoutMs: 2_000,
  /** Recovery of one settle, from its failure to the last answer that still counts. */
  recoveryBudgetMs: 10_000,
  /** Pauses before each re-send; their number bounds the re-sends. */
  recoveryPausesMs: [100, 250, 500, 1_000, 1_500, 2_000, 2_000],
  /** Of one answer of the facilitator; the longest proper one is a hundredth of it. */
  answerBytesMax: 65_536,
} as const

export type Limits = {
  readonly challengeTimeoutMs: number
  readonly verifyTimeoutMs: number
  readonly settleTimeoutMs: number
  readonly statusTimeoutMs: number
  readonly recoveryBudgetMs: number
  readonly recoveryPausesMs: readonly number[]
  readonly answerBytesMax: number
}

/**
 * What one client gets. A facilitator gives a seller it does not know 20 challenges a minute: the share of a single
 * client is below that, or the first one takes them all. A seller with a token of its own can afford more.
 */
export const clientLimits = {
  /** Offers a minute: unpaid requests, and payments that were refused. */
  unpaidPerMinute: 10,
  /** Requests a minute that carry a payment. */
  payingPerMinute: 60,
  /**
   * Payments a minute that the facilitator refused. Each may take from the rate that challenges come from, so this and
   * the offers together stay below it.
   */
  refusedPerMinute: 8,
  /** The same for one offer. A payer whose permit nonce was used by another payment signs again twice. */
  refusedPerOfferPerMinute: 4,
  /** Calls a minute that recover settles. Beyond them the payer is told to send its payment again. */
  resendsPerMinute: 60,
  /** Clients remembered at a time, each for a minute after its last request. Beyond them all share one client's part. */
  clientsMax: 10_000,
  /** Offers with refused payments remembered at a time. The oldest are forgotten first. */
  refusedOffersMax: 10_000,
} as const

export type ClientLimits = {
  readonly unpaidPerMinute: number
  readonly payingPerMinute: number
  readonly refusedPerMinute: number
  readonly refusedPerOfferPerMinute: number
  readonly resendsPerMinute: number
  readonly clientsMax: number
  readonly refusedOffersMax: number
}

/** A client without a refusal for this time, and an offer likewise, is forgotten. */
export const refusalsKeptMs = 600_000

/** While the facilitator cannot be used, it is asked what it supports this often, whoever brings the requests. */
export const supportedPerMinute = 60

/** HMAC-SHA256 gains nothing from a longer key and is guessable with a shorter one. */
export const secretBytesMin = 32
