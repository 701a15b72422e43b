/** What a purchase brings, and the steps of its way. */
import type { ChallengeNonce, TxHash } from '@svc-zerc20/protocol'
import type { End } from '../outcome.js'
import type { ApprovalRequest } from '../policy/approval.js'
import type { PaymentRecord } from '../state/payments.js'
import type { Quote, QuotedOffer } from './quote.js'

/** The facts of a payment that bought an answer. */
export type Payment = {
  readonly challengeNonce: ChallengeNonce
  readonly network: string
  readonly token: string
  readonly amount: string
  readonly fee: string | undefined
  /** The burn: our own transfer, or the one that the seller names, if the chain has it. */
  readonly transaction: TxHash | undefined
  /**
   * True when another request made the payment: an earlier one, whose answer was lost, or the same one, which still ran when
   * this one came.
   */
  readonly isResumed: boolean
}

export type Purchased = {
  /** The seller's answer. Its content is a stranger's. */
  readonly response: Response
  /** Undefined when the answer cost nothing. */
  readonly payment: Payment | undefined
  /** `pending`: the payment did not buy this answer, and is presented again by the next request. */
  readonly end: End
}

/** A purchase whose answer is kept until somebody says that it was handed over. */
export type Bought = Purchased & {
  /** The answer reached its buyer. One that was cut on the way stays on the disk, for `resume`. */
  handedOver(options?: { readonly isCut?: boolean }): Promise<void>
  /** The answer reached nobody. The next try gets it. False if nothing could be kept. */
  keepForLater(): Promise<boolean>
}

export type PayStep =
  | { readonly step: 'asking' }
  /** This was paid before, and its answer was not handed over. Nothing new is signed unless that payment is over. */
  | { readonly step: 'resuming'; readonly record: PaymentRecord }
  | { readonly step: 'offered'; readonly quote: Quote; readonly chosen: QuotedOffer }
  /** A human is asked. */
  | { readonly step: 'approving'; readonly request: ApprovalRequest }
  /** Right before a signature: from here on the payment may burn, and the process should not end. */
  | { readonly step: 'signing' }
  | { readonly step: 'presenting'; readonly challengeNonce: ChallengeNonce }
