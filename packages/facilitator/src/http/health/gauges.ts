/** Gauges of the daemon's parts at the moment of a scrape: each asks the part that knows. */
import type { Addresses } from '../../addresses/addresses.js'
import type { ChainProbe } from '../../chain/probe.js'
import type { LedgerFigures } from '../../payment/books.js'
import type { Issuance } from '../../payment/issue/issuance.js'
import type { OwedBooks } from '../../payment/owed.js'
import type { Clock } from '../../payment/ports.js'
import type { FeeControl, FeesView } from '../../payment/sweep/control.js'
import { type WaitReason, waitReasons } from '../../payment/waits.js'
import type { EngineFigures } from '../../store/engine/engine.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { ClockWatch } from './clock-watch.js'
import type { ReadinessProblem } from './readiness.js'

export type GaugeSources = {
  readonly metrics: Pick<Metrics, 'source'>
  readonly clock: Clock
  readonly probe: Pick<ChainProbe, 'last'>
  readonly clockWatch: Pick<ClockWatch, 'skewSeconds'>
  readonly issuance: Pick<Issuance, 'isPaused'>
  readonly owed: Pick<OwedBooks, 'last'>
  readonly fees: Pick<FeeControl, 'last'>
  /** As of the last look; undefined before the first. */
  readonly ledgerFigures: () => LedgerFigures | undefined
  readonly openChallengesMax: number
  readonly addresses: Pick<Addresses, 'ready' | 'target' | 'figures'>
  readonly relayer: { queue(): { readonly length: number } }
  /** The account that sends mints, when it is not the relayer. */
  readonly minter: { queue(): { readonly length: number } } | undefined
  readonly journalFigures: () => EngineFigures | undefined
  /** Undefined when no history is attached. */
  readonly historyStats: () =>
    | { readonly records: number; readonly bytes: number; readonly failed: boolean }
    | undefined
  readonly relayerBalance: () => bigint | undefined
  readonly minterBalance: () => bigint | undefined
  /** As of the last look; undefined before the first. */
  readonly problems: () => readonly ReadinessProblem[] | undefined
  readonly freeBytes: () => number | undefined
}

export function registerGauges(deps: GaugeSources): void {
  const { probe, ledgerFigures, journalFigures, historyStats, problems } = deps
  const { source } = deps.metrics
  registerOwedGauges(deps)
  registerFeeGauges(deps)
  const orUndefined = (value: bigint | undefined) => (value === undefined ? undefined : Number(value))
  source('svc_ready', () => (problems()?.length === 0 ? 1 : 0))
  source('svc_issuance_paused', () => (deps.issuance.isPaused() ? 1 : 0))
  source('svc_challenges_open', () => ledgerFigures()?.open)
  source('svc_challenges_open_max', () => deps.openChallengesMax)
  source('svc_fees_base_units_total', () => orUndefined(ledgerFigures()?.fees))
  source('svc_relayer_pending', () => deps.relayer.queue().length)
  source('svc_relayer_balance_wei', () => orUndefined(deps.relayerBalance()))
  source('svc_minter_pending', () => deps.minter?.queue().length)
  source('svc_minter_balance_wei', () => orUndefined(deps.minterBalance()))
  source('svc_addresses_ready', deps.addresses.ready)
  source('svc_addresses_target', () => deps.addresses.target)
  source('svc_addresses_mined_total', () => deps.addresses.figures().mined)
  source('svc_addresses_restored_total', () => deps.addresses.figures().restored)
  source('svc_address_mining_seconds_total', () => deps.addresses.figures().miningSeconds)
  source('svc_address_waits_total', () => deps.addresses.figures().waits)
  source('svc_address_refusals_total', () => deps.addresses.figures().refusals)
  source('svc_chain_head_block', () => {
    const view = probe.last()
    return view?.reachable ? Number(view.headNumber) : undefined
  })
  source('svc_clock_skew_seconds', deps.clockWatch.skewSeconds)
  source('svc_journal_disk_free_bytes', deps.freeBytes)
  source('svc_journal_records_total', () => journalFigures()?.records)
  source('svc_journal_syncs_total', () => journalFigures()?.syncs)
  source('svc_journal_bytes', () => journalFigures()?.bytes)
  source('svc_journal_failed', () => {
    const stats = journalFigures()
    return stats && (stats.failed ? 1 : 0)
  })
  source('svc_history_records_total', () => historyStats()?.records)
  source('svc_history_bytes', () => historyStats()?.bytes)
  source('svc_history_failed', () => {
    const stats = historyStats()
    return stats && (stats.failed ? 1 : 0)
  })
}

function registerFeeGauges({ fees, metrics, clock }: GaugeSources): void {
  const { source } = metrics
  const known = <T>(read: (view: FeesView) => T) => {
    const view = fees.last()
    return view && read(view)
  }
  source('svc_fees_due_payments', () => known(({ due }) => due.payments))
  source('svc_fees_due_base_units', () => known(({ due }) => Number(due.amount)))
  source('svc_fees_due_oldest_seconds', () =>
    known(({ due: { oldestAt } }) =>
      oldestAt === undefined ? 0 : Math.max(0, clock.now() / 1000 - oldestAt),
    ),
  )
  source('svc_fees_under_way_base_units', () => known(({ underWay }) => Number(underWay?.sweep.amount ?? 0n)))
  source('svc_fees_swept_base_units', () => known(({ swept }) => Number(swept.amount)))
  source('svc_treasury_balance_wei', () =>
    known(({ treasuryWei }) => (treasuryWei === undefined ? undefined : Number(treasuryWei))),
  )
  source('svc_fees_undistributed_base_units', () =>
    known(({ splitter }) =>
      splitter?.undistributed === undefined ? undefined : Number(splitter.undistributed),
    ),
  )
}

/** The first alert: the provider is not being paid. */
function registerOwedGauges({ owed, clock, metrics }: GaugeSources): void {
  const { source } = metrics
  source('svc_mints_awaiting', () => owed.last()?.payments)
  source('svc_mints_owed_base_units', () => {
    const value = owed.last()?.value
    return value === undefined ? undefined : Number(value)
  })
  source('svc_mints_oldest_seconds', () => {
    const known = owed.last()
    return known && (known.oldestAt === undefined ? 0 : Math.max(0, clock.now() / 1000 - known.oldestAt))
  })
  source('svc_payments_demoted', () => owed.last()?.demoted.payments)
  source('svc_payments_demoted_base_units', () => {
    const value = owed.last()?.demoted.value
    return value === undefined ? undefined : Number(value)
  })
  source('svc_mints_waiting', () => {
    const reasons = owed.last()?.reasons
    if (!reasons) return undefined
    // A reason without waiting payments is 0, not missing: an alert must see it fall.
    return (Object.keys(waitReasons) as WaitReason[]).map((reason) => ({
      labels: { reason },
      value: reasons.get(reason) ?? 0,
    }))
  })
}
