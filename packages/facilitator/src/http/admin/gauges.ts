/** The gauges of a scrape: what the status says, as numbers. */
import { type WaitReason, waitReasons } from '../../payment/waits.js'
import type { Fleet } from '../../store/adapters/fleet.js'
import type { Readings } from '../../telemetry/metrics.js'
import { ifLedgerAnswers, type StatusDeps, viewLedger, viewProcess } from './status.js'

/**
 * What belongs to the process is always there. A ledger that does not answer takes its series away, and the daemon is not
 * ready then: an alert needs a sample that says so.
 */
export async function readGauges(deps: StatusDeps): Promise<Readings> {
  const [process, ledger] = await Promise.all([
    viewProcess(deps),
    // A scrape that fails tells nothing at all, so no failure of the ledger may be one of the scrape.
    ifLedgerAnswers(deps, () => readLedger(deps)).catch(() => undefined),
  ])
  const ofProcess = gaugesOfProcess(process)
  if (ledger === undefined) return { ...ofProcess, svc_ready: 0 }
  return { ...ofProcess, ...gaugesOfLedger(ledger, process.now) }
}

const readLedger = async (deps: StatusDeps) => ({
  ...(await viewLedger(deps)),
  feesEarned: (await deps.ledger.books.figures()).fees,
  fleet: await deps.fleet?.(),
})

function gaugesOfProcess({
  relayer,
  minter,
  history,
  ...process
}: Awaited<ReturnType<typeof viewProcess>>): Readings {
  return {
    svc_ready: process.problems.every(({ part }) => part === 'standby') ? 1 : 0,
    svc_addresses_ready: process.addresses.ready,
    svc_addresses_target: process.addresses.target,
    svc_relayer_pending: relayer.pending,
    svc_relayer_balance_wei: relayer.balance,
    svc_minter_balance_wei: minter?.balance,
    svc_clock_skew_seconds: process.chain.clockSkewSeconds,
    svc_journal_disk_free_bytes: process.journal?.freeBytes,
    svc_history_failed: history && (history.failed ? 1 : 0),
  }
}

function gaugesOfLedger(
  { mints, fees, payments, challenges, feesEarned, fleet }: Awaited<ReturnType<typeof readLedger>>,
  now: number,
): Readings {
  const ageOf = (at: number | undefined) => (at === undefined ? 0 : Math.max(0, now - at))
  const batches = mints.nextBatches?.map(({ latestAt }) => Math.max(0, latestAt - now))
  return {
    svc_challenges_open: challenges.open,
    svc_challenges_max: challenges.max,
    svc_fees_base_units_total: feesEarned,
    svc_mints_owed_base_units: mints.owed,
    svc_mints_oldest_seconds: ageOf(mints.oldestAt),
    svc_mints_next_seconds: batches && Math.min(...batches),
    // A reason without waiting payments is 0, not missing: an alert must see it fall.
    svc_mints_waiting: (Object.keys(waitReasons) as WaitReason[]).map((reason) => ({
      labels: { reason },
      value: mints.reasons[reason] ?? 0,
    })),
    svc_payments_demoted: payments.demoted,
    svc_fees_due_payments: fees.due.payments,
    svc_fees_due_base_units: fees.due.amount,
    svc_fees_due_oldest_seconds: ageOf(fees.due.oldestAt),
    svc_fees_swept_base_units: fees.swept.amount,
    svc_treasury_balance_wei: fees.treasuryWei,
    ...gaugesOfFleet(fleet),
  }
}

function gaugesOfFleet(fleet: Fleet | undefined): Readings {
  const here = fleet?.daemons.find((daemon) => daemon.here)
  return {
    svc_daemons: fleet?.daemons.filter(({ alive }) => alive).length,
    svc_lease_term: fleet?.leases.map(({ name, term }) => ({ labels: { lease: name }, value: term })),
    svc_lease_held: fleet?.leases.map(({ name, holder }) => ({
      labels: { lease: name },
      value: holder !== undefined && holder === here?.name ? 1 : 0,
    })),
  }
}
