/** A payment as the store keeps it: one record that public answers are read from, and its mints apart from it. */
import type { Address, TxHash, UnixSeconds } from '@svc-zerc20/protocol'
import type { Accepted, Burn, Challenge, Finalized, LateReason, UnmatchedBurn } from '../payment/records.js'

/** A payment without its mint. */
export type Payment = {
  readonly challenge: Challenge
  /** The claim of the one payload that is being, or was, burned for this challenge. */
  readonly claim?: Claim
  readonly accepted?: Accepted
  /** The one success answer was written. */
  readonly granted: boolean
  /** The burn that the payment was accepted by, until a reorg took it away; a new burn makes it accepted again. */
  readonly demoted?: Accepted
  readonly late?: LateBurn
  /** Transfers to the payment's address that cover nothing. */
  readonly unmatched?: readonly UnmatchedBurn[]
  /** The payer lets the provider see it since then. */
  readonly disclosedAt?: UnixSeconds
}

export type Claim = {
  readonly identity: string
  /** The payload was presented with the ticket of its offer. Repeated requests need the ticket, too. */
  readonly ticketed: boolean
  /** The burn's transaction, as far as one is known. */
  readonly txHash?: TxHash
  /** Of a permit: whose it is, and its nonce. */
  readonly permit?: { readonly payer: Address; readonly permitNonce: bigint }
}

/** A burn that buys nothing and is only minted. */
export type LateBurn = { readonly burn: Burn; readonly reason: LateReason; readonly at: UnixSeconds }

/** The mints of a payment. No public answer tells anything of them. */
export type Minted = {
  /** The mint of the accepted burn; of the late burn where none was accepted. */
  readonly finalized?: Finalized
  /** The mint of the late burn beside an accepted one. */
  readonly lateMinted?: Finalized
  /** Mints of late burns that a larger one has replaced since. The larger one is minted for the difference. */
  readonly mintedBefore?: readonly Finalized[]
  /** A sweep took the fee. */
  readonly swept?: true
}

/** Everything known of a payment, for its participants and the operator. */
export type RecordedPayment = Payment & Minted
