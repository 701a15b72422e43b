/** Tables of the metric series and of the events that increment them. `docs/reference/metrics.md` prints both. */
import type { LogEvent } from './events.js'

export type Series = {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds of a histogram, ascending; the last bucket is open. */
  readonly buckets?: readonly number[]
}

const counter = (help: string, ...labels: string[]) => ({ kind: 'counter', help, labels }) as const
const gauge = (help: string, ...labels: string[]) => ({ kind: 'gauge', help, labels }) as const
const histogram = (help: string, buckets: readonly number[], ...labels: string[]) =>
  ({ kind: 'histogram', help, buckets, labels }) as const

const secondBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

export const series = {
  svc_build_info: gauge('Always 1; the version is a label.', 'version'),
  svc_start_time_seconds: gauge('When the daemon started, in unix seconds.'),
  svc_ready: gauge('1 when /ready answers 200.'),
  svc_issuance_paused: gauge('1 while an operator keeps issuance paused.'),
  svc_challenges_issued_total: counter('Challenges issued.'),
  svc_challenges_open: gauge('Challenges that have not expired and for which no payload was presented.'),
  svc_challenges_open_max: gauge('Cap on open challenges, daemon.max_open_challenges.'),
  svc_payments_total: counter('Payments that reached a phase.', 'phase'),
  svc_fees_base_units_total: counter(
    'Fees of payments that were accepted, since the first one, as the ledger has them. Each payment counts once.',
  ),
  svc_burns_total: counter(
    'Turns of burns. One burn counts as broadcast again for each replacement.',
    'outcome',
  ),
  svc_burns_per_batch: histogram(
    'Burns in each signed burn transaction, replacements at a higher fee included.',
    [1, 2, 5, 10, 20, 30, 40, 50],
  ),
  svc_mints_total: counter('Turns of mints.', 'outcome'),
  svc_mints_awaiting: gauge('Burns that are not minted yet, late ones included.'),
  svc_mints_waiting: gauge('Burns that are not minted yet, by the reason why they wait.', 'reason'),
  svc_mints_owed_base_units: gauge('Sum of the burns that are not minted yet: owed to the provider.'),
  svc_mints_oldest_seconds: gauge(
    'Time since the oldest burn that is not minted yet was accepted; 0 when there is none.',
  ),
  svc_payments_demoted: gauge(
    'Payments that were accepted, and perhaps served, and whose burn a reorg took: nobody has paid for them.',
  ),
  svc_payments_demoted_base_units: gauge('Sum of those burns.'),
  svc_mint_proof_seconds: histogram(
    'Time of a mint from its path to its proof, waiting for a free prover included.',
    [0.5, 1, 2, 4, 8, 15, 30, 60, 120],
  ),
  svc_mint_company: histogram(
    'Waiting burns of the same amount when a mint was proved, its own included: the mint could belong to any of them.',
    [1, 2, 5, 10, 20, 50, 100],
  ),
  svc_mint_batch_payments: histogram(
    'Payments that one batch mint brings, as one sum.',
    [1, 2, 5, 10, 20, 30],
  ),
  svc_fees_due_payments: gauge('Finalized payments whose fee no sweep has taken.'),
  svc_fees_due_base_units: gauge('Sum of those fees.'),
  svc_fees_due_oldest_seconds: gauge('Time since the oldest of those fees is due; 0 when there is none.'),
  svc_fees_under_way_base_units: gauge('Fees in a sweep that is signed and not deep on the chain yet.'),
  svc_fees_swept_base_units: gauge('Fees that were swept to their recipient, since the first payment.'),
  svc_treasury_balance_wei: gauge(
    'Native balance of the treasury, which pays for sweeps; only in custodial mode.',
  ),
  svc_fees_undistributed_base_units: gauge('Balance of the splitter, as last seen; only in split mode.'),
  svc_fee_sweeps_total: counter('Turns of sweeps, and of distributions of the splitter.', 'outcome'),
  svc_followed_block: gauge("Block up to which the token's transfers were followed."),
  svc_follow_failures_total: counter('Failed searches for transfers that nobody presented.'),
  svc_stuck_transfers: gauge('Addresses with tokens that a single proof cannot mint.'),
  svc_finalize_failures_total: counter('Rounds of finalization that could not read the chain.'),
  svc_decider_proofs_total: counter('Batch proofs that a decider made.'),
  svc_decider_failures_total: counter('Batch proofs that a decider did not make, or made wrong.'),
  svc_indexer_failures_total: counter('Paths that the indexer did not give, or gave wrong.'),
  svc_refusals_total: counter('Answers that refused a request.', 'endpoint', 'reason'),
  svc_http_request_duration_seconds: histogram(
    'Time from the head of a request to the end of its answer.',
    secondBuckets,
    'endpoint',
    'status',
  ),
  svc_unknown_tokens_total: counter('Calls with a token that belongs to no seller.'),
  svc_connections_open: gauge('Connections of callers.'),
  svc_connections_refused_total: counter(
    'Connections turned away because there were too many: with 503, or closed when even those were too many.',
  ),
  svc_request_failures_total: counter('Requests that failed through no fault of the caller.'),
  svc_relayer_pending: gauge('Transactions of the relayer that are signed and not confirmed.'),
  svc_relayer_balance_wei: gauge('Native balance of the relayer, as last seen.'),
  svc_minter_pending: gauge(
    'Transactions of the minter that are signed and not confirmed. With `SVC_MINTER_PK` only.',
  ),
  svc_minter_balance_wei: gauge('Native balance of the minter, as last seen. With `SVC_MINTER_PK` only.'),
  svc_relayer_mined_total: counter(
    'Transactions of the relayer and the minter that were confirmed.',
    'purpose',
  ),
  svc_relayer_gas_used_total: counter('Gas used by those transactions.', 'purpose'),
  svc_relayer_spent_wei_total: counter('Cost of that gas in wei.', 'purpose'),
  svc_relayer_price_raises_total: counter('Transactions replaced at a higher gas price.'),
  svc_relayer_refusals_total: counter('Transactions that the node refused.'),
  svc_relayer_unfunded_total: counter('Transactions that the node refused because the relayer lacks money.'),
  svc_relayer_displaced_total: counter("Relayer txNonces that somebody else's transaction used."),
  svc_relayer_given_up_total: counter(
    'Transactions that the node refused for good, and whose txNonce an empty one used.',
  ),
  svc_relayer_reorged_total: counter(
    'Mined transactions that a reorg removed and that no block held again within seconds. `svc_payments_demoted` tells ' +
      'of payments.',
  ),
  svc_relayer_gaps_filled_total: counter('Unused relayer txNonces that were filled.'),
  svc_addresses_ready: gauge('One-time burn addresses ready to be issued.'),
  svc_addresses_target: gauge('One-time burn addresses to keep ready, zerc20.pool_size.'),
  svc_addresses_mined_total: counter('One-time burn addresses mined.'),
  svc_addresses_restored_total: counter('One-time burn addresses restored from the previous run.'),
  svc_address_mining_seconds_total: counter('Seconds spent on searches for addresses.'),
  svc_address_waits_total: counter('Callers that found no address ready and waited for one.'),
  svc_address_refusals_total: counter('Callers that got no address.'),
  svc_address_failures_total: counter('One-time burn addresses that could not be made.'),
  svc_recovery_lost_total: counter('Times the signer thread was lost.'),
  svc_chain_head_block: gauge('Highest block number seen.'),
  svc_rpc_round_trips_total: counter('HTTP round trips to the RPC endpoint.'),
  svc_rpc_round_trip_seconds: histogram('Time until the RPC endpoint answered.', secondBuckets),
  svc_clock_skew_seconds: gauge(
    "Certain part of the difference between this machine's clock and the chain's time; negative when the clock is behind.",
  ),
  svc_rpc_calls_total: counter('JSON-RPC calls; several share a round trip.', 'method'),
  svc_rpc_failures_total: counter('Round trips to the RPC endpoint without a usable answer.'),
  svc_rpc_interruptions_total: counter('Times that work on a burn had to ask the RPC endpoint again.'),
  svc_journal_records_total: counter('Journal records written durably.'),
  svc_journal_syncs_total: counter('Syncs of the journal file; one serves many records.'),
  svc_journal_bytes: gauge('Size of the journal file.'),
  svc_journal_disk_free_bytes: gauge("Free bytes on the journal's disk."),
  svc_journal_failed: gauge('1 from a failed write to the journal until the next one that succeeds.'),
  svc_journal_failures_total: counter("Writes that the journal's disk refused."),
  svc_history_records_total: counter('Records of the payment history written durably.'),
  svc_history_bytes: gauge('Size of all files of the payment history.'),
  svc_history_failed: gauge('1 from a failed write to the payment history until the next one that succeeds.'),
  svc_history_failures_total: counter('Writes that the disk under the payment history refused.'),
  svc_process_resident_memory_bytes: gauge('Resident memory of the process.'),
  svc_process_heap_bytes: gauge('JavaScript heap in use.'),
  svc_process_cpu_seconds_total: counter('Processor time, all threads together.'),
  svc_event_loop_lag_seconds: gauge('How late the event loop was since the last scrape.', 'quantile'),
} as const satisfies Record<string, Series>

export type SeriesName = keyof typeof series
type OfKind<K extends Series['kind']> = {
  [Name in SeriesName]: (typeof series)[Name]['kind'] extends K ? Name : never
}[SeriesName]
export type CounterName = OfKind<'counter'>
export type HistogramName = OfKind<'histogram'>

export type Labels = Readonly<Record<string, string>>

/** The counter that a log event increments. Other events appear only in the log. */
export const eventCounters: Readonly<
  Partial<Record<LogEvent['event'], { readonly name: CounterName; readonly labels?: Labels }>>
> = {
  'challenge.issued': { name: 'svc_challenges_issued_total' },
  'payment.accepted': { name: 'svc_payments_total', labels: { phase: 'accepted' } },
  'burn.broadcast': { name: 'svc_burns_total', labels: { outcome: 'broadcast' } },
  'burn.resumed': { name: 'svc_burns_total', labels: { outcome: 'resumed' } },
  'burn.failed': { name: 'svc_burns_total', labels: { outcome: 'failed' } },
  'burn.interrupted': { name: 'svc_burns_total', labels: { outcome: 'interrupted' } },
  'burn.unmatched': { name: 'svc_burns_total', labels: { outcome: 'unmatched' } },
  'burn.late': { name: 'svc_burns_total', labels: { outcome: 'late' } },
  'burn.found': { name: 'svc_burns_total', labels: { outcome: 'found' } },
  'follow.failed': { name: 'svc_follow_failures_total' },
  'burn.reorged': { name: 'svc_burns_total', labels: { outcome: 'reorged' } },
  'burn.lost': { name: 'svc_burns_total', labels: { outcome: 'lost' } },
  'payment.finalized': { name: 'svc_payments_total', labels: { phase: 'finalized' } },
  'payment.demoted': { name: 'svc_payments_total', labels: { phase: 'demoted' } },
  'mint.proved': { name: 'svc_mints_total', labels: { outcome: 'proved' } },
  'batch.foreign': { name: 'svc_mints_total', labels: { outcome: 'foreign' } },
  'batch.failed': { name: 'svc_mints_total', labels: { outcome: 'batch_failed' } },
  'mint.mined': { name: 'svc_mints_total', labels: { outcome: 'mined' } },
  'mint.failed': { name: 'svc_mints_total', labels: { outcome: 'failed' } },
  'mint.resumed': { name: 'svc_mints_total', labels: { outcome: 'resumed' } },
  'fees.sweep_signed': { name: 'svc_fee_sweeps_total', labels: { outcome: 'signed' } },
  'fees.sweep_resumed': { name: 'svc_fee_sweeps_total', labels: { outcome: 'resumed' } },
  'fees.swept': { name: 'svc_fee_sweeps_total', labels: { outcome: 'swept' } },
  'fees.transfer_found': { name: 'svc_fee_sweeps_total', labels: { outcome: 'found' } },
  'fees.sweep_failed': { name: 'svc_fee_sweeps_total', labels: { outcome: 'failed' } },
  'fees.distributed': { name: 'svc_fee_sweeps_total', labels: { outcome: 'distributed' } },
  'fees.distribute_failed': { name: 'svc_fee_sweeps_total', labels: { outcome: 'distribute_failed' } },
  'finalize.failed': { name: 'svc_finalize_failures_total' },
  'decider.proved': { name: 'svc_decider_proofs_total' },
  'decider.failed': { name: 'svc_decider_failures_total' },
  'indexer.failed': { name: 'svc_indexer_failures_total' },
  'relayer.price_raised': { name: 'svc_relayer_price_raises_total' },
  'relayer.send_refused': { name: 'svc_relayer_refusals_total' },
  'relayer.unfunded': { name: 'svc_relayer_unfunded_total' },
  'relayer.displaced': { name: 'svc_relayer_displaced_total' },
  'relayer.given_up': { name: 'svc_relayer_given_up_total' },
  'relayer.reorged': { name: 'svc_relayer_reorged_total' },
  'relayer.gap_filled': { name: 'svc_relayer_gaps_filled_total' },
  'rpc.failed': { name: 'svc_rpc_interruptions_total' },
  'request.failed': { name: 'svc_request_failures_total' },
  'address.failed': { name: 'svc_address_failures_total' },
  'recovery.lost': { name: 'svc_recovery_lost_total' },
  'journal.failed': { name: 'svc_journal_failures_total' },
  'history.failed': { name: 'svc_history_failures_total' },
}
