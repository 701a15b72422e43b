/** The gauges of a scrape: what the status says, as numbers. */
import { type WaitReason, waitReasons } from '../../payment/waits.js'
import type { Readings } from '../../telemetry/metrics.js'
import type { Status } from './status.js'

export function gaugesOf({ mints, fees, relayer, minter, history, ...status }: Status): Readings {
  const ageOf = (at: number | undefined) => (at === undefined ? 0 : Math.max(0, status.now - at))
  const here = status.daemons?.find((daemon) => daemon.here)
  return {
    svc_ready: status.ready ? 1 : 0,
    svc_mints_owed_base_units: mints.owed,
    svc_mints_oldest_seconds: ageOf(mints.oldestAt),
    // A reason without waiting payments is 0, not missing: an alert must see it fall.
    svc_mints_waiting: (Object.keys(waitReasons) as WaitReason[]).map((reason) => ({
      labels: { reason },
      value: mints.reasons[reason] ?? 0,
    })),
    svc_payments_demoted: status.payments.demoted,
    svc_fees_due_payments: fees.due.payments,
    svc_fees_due_base_units: fees.due.amount,
    svc_fees_due_oldest_seconds: ageOf(fees.due.oldestAt),
    svc_fees_swept_base_units: fees.swept.amount,
    svc_treasury_balance_wei: fees.treasuryWei,
    svc_relayer_pending: relayer.pending,
    svc_relayer_balance_wei: relayer.balance,
    svc_minter_balance_wei: minter?.balance,
    svc_clock_skew_seconds: status.chain.clockSkewSeconds,
    svc_journal_disk_free_bytes: status.journal?.freeBytes,
    svc_daemons: status.daemons?.filter(({ alive }) => alive).length,
    svc_lease_term: status.leases?.map(({ name, term }) => ({ labels: { lease: name }, value: term })),
    svc_lease_held: status.leases?.map(({ name, holder }) => ({
      labels: { lease: name },
      value: holder !== undefined && holder === here?.name ? 1 : 0,
    })),
    svc_history_failed: history && (history.failed ? 1 : 0),
  }
}
