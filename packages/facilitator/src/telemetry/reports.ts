/** What the parts around the payment flow report: the relayer, the Merkle paths, the followed transfers. */

export type RelayerEvent =
  | { readonly event: 'relayer.unfunded'; readonly address: string }
  | { readonly event: 'relayer.fee_raised'; readonly nonce: number; readonly txHash: string }
  | { readonly event: 'relayer.displaced'; readonly nonce: number }
  | { readonly event: 'relayer.gap_filled'; readonly nonce: number }
  | { readonly event: 'relayer.send_refused'; readonly nonce: number; readonly message: string }
  | { readonly event: 'relayer.given_up'; readonly nonce: number; readonly txHash: string }
  | { readonly event: 'relayer.reorged'; readonly nonce: number }
  | {
      readonly event: 'relayer.mined'
      readonly nonce: number
      readonly purpose: 'burn' | 'mint'
      readonly gas: bigint
      readonly wei: bigint
    }
  | { readonly event: 'rpc.failed'; readonly err: unknown }

export type PathEvent =
  /** The indexer gave no path that leads to the root on chain; our own tree was asked instead. */
  { readonly event: 'indexer.failed'; readonly err: unknown }

export type FollowEvent =
  /** The indexer did not tell the transfers that the chain has; told once until it does. */
  | { readonly event: 'follow.indexer_failed'; readonly err: unknown }
  /** Blocks that were followed are not on the chain any more: they are read again from an earlier one. */
  | { readonly event: 'follow.reorged'; readonly block: number; readonly from: number }
  /** More transfers came to an address than are kept of it. */
  | { readonly event: 'follow.dust'; readonly challengeNonce: string; readonly txHash: string }
