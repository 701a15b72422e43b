/** Events of the parts around the payment flow: relayer, Merkle paths, followed transfers. */

export type RelayerEvent =
  | { readonly event: 'relayer.unfunded'; readonly address: string }
  | { readonly event: 'relayer.price_raised'; readonly txNonce: number; readonly txHash: string }
  | { readonly event: 'relayer.displaced'; readonly txNonce: number }
  | { readonly event: 'relayer.gap_filled'; readonly txNonce: number }
  | { readonly event: 'relayer.send_refused'; readonly txNonce: number; readonly message: string }
  | { readonly event: 'relayer.given_up'; readonly txNonce: number; readonly txHash: string }
  | { readonly event: 'relayer.reorged'; readonly txNonce: number }
  | {
      readonly event: 'relayer.mined'
      readonly txNonce: number
      readonly purpose: 'burn' | 'mint' | 'sweep' | 'distribution'
      readonly gas: bigint
      readonly wei: bigint
    }
  | { readonly event: 'rpc.failed'; readonly err: unknown }

export type PathEvent =
  /** The indexer gave no path to the root on chain, so our own tree was used. */
  { readonly event: 'indexer.failed'; readonly err: unknown }

export type FollowEvent =
  /** A reorg removed blocks that were followed, so reading continues from an earlier block. */
  | { readonly event: 'follow.reorged'; readonly block: number; readonly from: number }
  /** An address received more transfers than are kept. */
  | { readonly event: 'follow.dust'; readonly challengeNonce: string; readonly txHash: string }
