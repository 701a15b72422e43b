/** The bounds of a table, with other values: a seller may set its own. */
type Settable<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends number ? number : readonly number[]
}

/**
 * Every bound of the plugin. A paid request is verify, handler and settle, and a payer waits 30 s for it by default.
 * The facilitator polls a receipt for 15 s, the settle call waits a little longer, and re-sending takes the rest.
 */
export const limits = {
  challengeTimeoutMs: 10_000,
  verifyTimeoutMs: 10_000,
  /** Pauses before a verify that got no answer is sent again, all within `verifyTimeoutMs`. */
  verifyPausesMs: [200, 800],
  settleTimeoutMs: 17_000,
  statusTimeoutMs: 2_000,
  /** Time for re-sending one settle, from its failure to the last answer that still counts. */
  recoveryBudgetMs: 10_000,
  /** Pauses before each re-send; their number bounds the re-sends. */
  recoveryPausesMs: [100, 250, 500, 1_000, 1_500, 2_000, 2_000],
  /** Size of one answer of the facilitator. The longest valid answer is a hundredth of it. */
  answerBytesMax: 65_536,
} as const

export type Limits = Settable<typeof limits>

/** Served answers that are kept for payers whose connection broke. */
export const answerLimits = {
  /** Time in which the same payment gets the same answer again, and in which a run of its handler is taken for alive. */
  keptMs: 600_000,
  /** Time in which an accepted payment whose handler failed may run it again, from the last run on. */
  owedMs: 86_400_000,
  /**
   * Size of all answers in memory together, and of what is owed, which is under a kilobyte each. The oldest answers are
   * forgotten first, what is owed after all of them, and a larger answer is not kept.
   */
  bytesMax: 67_108_864,
  /** Number of answers in memory, and of what is owed. */
  answersMax: 10_000,
} as const

export type AnswerLimits = { readonly bytesMax: number; readonly answersMax: number }

/** The answer of a paid handler is held in memory, as a whole, until its payment is accepted. */
export const heldLimits = {
  /** Time from its first byte to its end. A payer waits 30 s for all of it by default. */
  endsMs: 60_000,
  /** Its size. */
  bytesMax: 268_435_456,
} as const

/** Of the presentations of one offer, one is at work at a time. */
export const presentationLimits = {
  /** Wait for the presentation before. After it the payer is told to come again. */
  waitMs: 10_000,
  /** Time that a handler has to end after its client is gone, unless its payment is accepted already. */
  abandonedMs: 30_000,
  /** What a payer is told to wait when its payment is still at work. */
  retrySeconds: 2,
} as const

/**
 * Limits for one client. A facilitator gives an unknown seller 20 challenges a minute. One client's limit is lower, so
 * that a single client cannot take all of them. A seller with its own token may raise it.
 */
export const clientLimits = {
  /** Offers a minute: unpaid requests, and payments that were refused. */
  unpaidPerMinute: 10,
  /** Requests a minute that carry a payment: for one sealed offer, or of one client without a seal. */
  payingPerMinute: 60,
  /**
   * Refused payments a minute. The facilitator may count them against the same rate as challenges, so this limit plus
   * `unpaidPerMinute` stays below that rate.
   */
  refusedPerMinute: 8,
  /** Refused payments a minute for one offer. An honest payer may need three tries when its permit nonce was used. */
  refusedPerOfferPerMinute: 4,
  /**
   * Payments a minute that the facilitator was asked about and that bought nothing, for whatever reason. Each of them is a verify
   * and a settle at most, so with its offers and re-sent settles one client takes less than the 120 requests a minute of a seller
   * that the facilitator does not know.
   */
  unacceptedPerMinute: 20,
  /** Re-sent settles a minute. Above this, the payer is told to send its payment again. */
  resendsPerMinute: 50,
  /** Clients remembered at a time, each for a minute after its last request. All others share one client's limit. */
  clientsMax: 10_000,
  /** Offers with payments remembered at a time, those with refused ones for longer. The oldest are forgotten first. */
  offersMax: 10_000,
} as const

export type ClientLimits = Settable<typeof clientLimits>

/** Above `unacceptedPerMinute`, payloads of a client that it was told to send again take turns. */
export const awaitedLimits = {
  /** Time from one turn to the next. With its other requests that is still less than the 120 a minute. */
  everyMs: 8_000,
  /** Offers that wait for their turn. Further ones have none. */
  offersMax: 100,
  /** An offer that was not presented for this long waits no more. */
  goneMs: 30_000,
} as const

/** Clients and offers without a refusal for this long are forgotten. */
export const refusalsKeptMs = 600_000

/** What a payer is told to wait when the facilitator gave no verdict and no time of its own. */
export const noVerdictRetrySeconds = 5

/** Calls of `GET /supported` a minute while the facilitator is down, for all clients together. */
export const supportedPerMinute = 60

/** As long as an HMAC-SHA256 digest. A shorter key is easier to guess. */
export const secretBytesMin = 32
