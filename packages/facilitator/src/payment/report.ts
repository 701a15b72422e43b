/** Events that the payment flow tells the operator. */
import type { Burn, Challenge } from './records.js'

/** Tells the operator; never throws and never carries secrets or bodies. */
export type Report = (event: PaymentEvent) => void

export type DemotionEvent =
  /** A reorg took back a burn that had been accepted. */
  | { readonly event: 'burn.reorged'; readonly challengeNonce: string }
  /** No block holds the burn any more: the payment is open again and nothing is minted for it. */
  | { readonly event: 'payment.demoted'; readonly challengeNonce: string; readonly txHash: string }

export type PaymentEvent =
  | { readonly event: 'challenge.issued'; readonly challengeNonce: string; readonly amount: bigint }
  | {
      readonly event: 'payment.accepted'
      readonly challengeNonce: string
      readonly txHash: string
      readonly fee?: bigint
    }
  | { readonly event: 'burn.broadcast'; readonly challengeNonce: string; readonly txHash: string }
  | { readonly event: 'burn.resumed'; readonly challengeNonce: string }
  | { readonly event: 'burn.failed'; readonly challengeNonce: string; readonly reason: string }
  /** The end of the burn is unknown here: the claim stays until the same payload is sent again. */
  | { readonly event: 'burn.interrupted'; readonly challengeNonce: string; readonly err: unknown }
  /** A transfer to payTo that covers nothing: too little, or only together with others. */
  | {
      readonly event: 'burn.unmatched'
      readonly challengeNonce: string
      readonly txHash: string
      readonly reason: string
    }
  | { readonly event: 'burn.late'; readonly challengeNonce: string; readonly txHash: string }
  /** A burn that was not late, but buys nothing either. The burn is minted all the same. */
  | {
      readonly event: 'burn.found'
      readonly challengeNonce: string
      readonly txHash: string
      readonly value: bigint
      readonly reason: string
    }
  | DemotionEvent
  /**
   * A burn that a reorg took back cannot be executed any more: the resource that it bought was not paid for.
   */
  | { readonly event: 'burn.lost'; readonly challengeNonce: string; readonly reason: string }
  | { readonly event: 'issuance.paused' }
  | { readonly event: 'issuance.resumed' }

export const acceptedEvent = ({ nonce, fee }: Challenge, { txHash }: Burn): PaymentEvent => ({
  event: 'payment.accepted',
  challengeNonce: nonce,
  txHash,
  ...(fee && { fee: fee.amount }),
})
