/**
 * The answer of `/status` about the token. The last three fields are ours; upstream's clients ignore them.
 */
export type Status = {
  readonly label: string
  readonly chain_id: number
  readonly token_address: string
  readonly verifier_address: string
  readonly onchain_reserved_index: number | null
  readonly onchain_proved_index: number | null
  /** Index of the last transfer. */
  readonly events_synced_index: number | null
  /** Number of leaves. */
  readonly tree_synced_index: number | null
  /** Leaf count of the last root that was proved here, submitted or not. */
  readonly ivc_generated_index: number | null
  readonly synced_block: number
  /** Code and sentence of the failure that stops the sync. */
  readonly sync_error: string | null
  /** The same for the proving of roots. */
  readonly root_error: string | null
}
