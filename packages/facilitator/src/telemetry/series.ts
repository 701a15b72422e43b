/** The table of the metric series; `docs/reference/metrics.md` prints it. */

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

const secondBuckets = [0.001, 0.002, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

export const series = {
  svc_build_info: gauge('Always 1; the version is a label.', 'version'),
  svc_events_total: counter('Log events. Every event is here from the start, with 0.', 'event'),
  svc_ready: gauge('1 when /ready answers 200, and where another daemon is active.'),
  svc_addresses_ready: gauge('Burn addresses that are ready for new challenges.'),
  svc_addresses_target: gauge('How many of them are kept ready.'),
  svc_challenges_open: gauge('Open challenges that count for their limit.'),
  svc_challenges_max: gauge('Their limit, `daemon.max_open_challenges`.'),
  svc_accepted_base_units_total: counter('Sum of the payments that this daemon accepted.'),
  svc_fees_base_units_total: counter(
    'Fees of payments that were accepted, since the first one, as the ledger has them. Each payment counts once.',
  ),
  svc_mints_waiting: gauge('Burns that are not minted yet, by the reason why they wait.', 'reason'),
  svc_mints_owed_base_units: gauge('Sum of the burns that are not minted yet: owed to the provider.'),
  svc_mints_oldest_seconds: gauge(
    'Time since the oldest burn that is not minted yet was accepted; 0 when there is none.',
  ),
  svc_mints_next_seconds: gauge(
    'Time until the next batch is minted at the latest, even if it is small. In batch mode, while payments wait for it.',
  ),
  svc_payments_demoted: gauge(
    'Payments that were accepted, and perhaps served, and whose burn a reorg took: nobody has paid for them.',
  ),
  svc_fees_due_payments: gauge('Finalized payments whose fee no sweep has taken.'),
  svc_fees_due_base_units: gauge('Sum of those fees.'),
  svc_fees_due_oldest_seconds: gauge('Time since the oldest of those fees is due; 0 when there is none.'),
  svc_fees_swept_base_units: gauge('Fees that were swept to their recipient, since the first payment.'),
  svc_treasury_balance_wei: gauge(
    'Native balance of the treasury, which pays for sweeps; only in custodial mode.',
  ),
  svc_stuck_transfers: gauge('Addresses with tokens that a single proof cannot mint.'),
  svc_refusals_total: counter('Answers that refused a request.', 'endpoint', 'reason'),
  svc_http_request_duration_seconds: histogram(
    'Time from the head of a request to the end of its answer.',
    secondBuckets,
    'endpoint',
    'status',
  ),
  svc_relayer_pending: gauge('Transactions of the relayer that are signed and not confirmed.'),
  svc_relayer_balance_wei: gauge('Native balance of the relayer, as last seen.'),
  svc_minter_balance_wei: gauge('Native balance of the minter, as last seen. With `SVC_MINTER_PK` only.'),
  svc_relayer_spent_wei_total: counter(
    'Cost in wei of the transactions of the relayer and the minter that were confirmed.',
    'purpose',
  ),
  svc_rpc_round_trip_seconds: histogram('Time until the RPC endpoint answered.', secondBuckets),
  svc_clock_skew_seconds: gauge(
    "Certain part of the difference between this machine's clock and the chain's time; negative when the clock is behind.",
  ),
  svc_rpc_calls_total: counter('JSON-RPC calls; several share a round trip.', 'method'),
  svc_signatures_recovered_total: counter(
    'Signatures of permit payments whose signer was computed: two a payment, once for its verify and its settle together.',
  ),
  svc_rpc_failures_total: counter('Round trips to the RPC endpoint without a usable answer.'),
  svc_journal_disk_free_bytes: gauge("Free bytes on the journal's disk."),
  svc_daemons: gauge('Daemons that live and share this ledger. With `storage.url` only.'),
  svc_lease_term: gauge(
    'Grows with each new holder of a lease, by more than one: count the `changes` of it. `active` is the right to take ' +
      'payments, burn and mint. With `storage.url` only.',
    'lease',
  ),
  svc_lease_held: gauge('1 when this daemon holds the lease. With `storage.url` only.', 'lease'),
  svc_history_failed: gauge('1 from a failed write to the payment history until the next one that succeeds.'),
  svc_event_loop_lag_seconds: gauge('How late the event loop was since the last scrape.', 'quantile'),
} as const satisfies Record<string, Series>

export type SeriesName = keyof typeof series
type OfKind<K extends Series['kind']> = {
  [Name in SeriesName]: (typeof series)[Name]['kind'] extends K ? Name : never
}[SeriesName]
export type CounterName = OfKind<'counter'>
export type HistogramName = OfKind<'histogram'>

export type Labels = Readonly<Record<string, string>>
