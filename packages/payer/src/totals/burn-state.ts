/** What the chain can say about money that was promised. */
import type { ChallengeNonce, Hex, TxHash } from '@svc-zerc20/protocol'
import type { Reservation } from './spend-state.js'

/** `absent` means that no burn exists and none can come any more. */
export type BurnState = 'burned' | 'absent' | 'unknown'

/** The signed transfer of a self-transfer, where there is one. */
export type SignedTransfer = { readonly hash: TxHash; readonly raw: Hex }

export type ReadBurnState = (
  challengeNonce: ChallengeNonce,
  reservation: Reservation,
  transfer: SignedTransfer | undefined,
) => Promise<BurnState>
