/** The states of a promised burn, as the chain tells them. */
import type { ChallengeNonce, Hex, TxHash } from '@svc-zerc20/protocol'
import type { Reservation } from './spend-state.js'

/** `absent`: no burn exists, and none can come any more. */
export type BurnState = 'burned' | 'absent' | 'unknown'

/** The signed transfer of a self-transfer, where there is one. */
export type SignedTransfer = { readonly hash: TxHash; readonly raw: Hex }

/** What must be known of a payment to look for its burn. */
export type PromisedBurn = Pick<
  Reservation,
  'way' | 'helper' | 'deadline' | 'token' | 'payer' | 'payTo' | 'amount'
>

export type ReadBurnState = (
  challengeNonce: ChallengeNonce,
  reservation: PromisedBurn,
  transfer: SignedTransfer | undefined,
) => Promise<BurnState>
