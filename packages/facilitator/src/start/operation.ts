/** The operator's side of the daemon: what is counted and remembered of its work, and the routes that show it. */
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import type { FastifyInstance } from 'fastify'
import type { Addresses } from '../addresses/addresses.js'
import type { ChainProbe } from '../chain/probe.js'
import type { ClockWatch } from '../health/clock-watch.js'
import type { DiskSpace } from '../health/disk-space.js'
import { askAll, type ReadinessProbe, type ReadinessProblem } from '../health/readiness.js'
import { registerAdminApi } from '../http/admin/api.js'
import type { AdminAuth } from '../http/admin/auth.js'
import { type Readiness, registerHealthApi } from '../http/public/health.js'
import type { JournalStats } from '../ledger/journal/journal.js'
import { limits } from '../limits.js'
import type { Books } from '../payment/books.js'
import type { Issuance } from '../payment/issue/issuance.js'
import type { OwedBooks } from '../payment/owed.js'
import type { Clock } from '../payment/ports.js'
import { type WaitReason, waitReasons } from '../payment/waits.js'
import type { Profile } from '../profile.js'
import type { QueuedTransaction } from '../relayer/relayer.js'
import type { Log, LogWriter } from '../telemetry/events.js'
import { createMetrics, type Metrics } from '../telemetry/metrics.js'
import { registerProcessVitals } from '../telemetry/process-vitals.js'
import { createRecentEvents, type RecentEvents } from '../telemetry/recent.js'
import { createSpentGas, type SpentGas } from '../telemetry/spent-gas.js'
import { unlinked } from '../telemetry/unlinked.js'
import { version } from '../version.js'
import type { Following } from './following.js'

export type Telemetry = {
  /** Tells the log, the metrics and the recent events. */
  readonly log: Log
  readonly metrics: Metrics
  readonly recent: RecentEvents
  /** What the relayer paid since the start. */
  readonly spent: SpentGas
  close(): void
}

export function createTelemetry(deps: {
  readonly log: LogWriter
  readonly clock: Clock
  /** Whether the log may tell which payment a mint is for. */
  readonly linkMints: boolean
}): Telemetry {
  const { clock } = deps
  const metrics = createMetrics()
  const recent = createRecentEvents({
    clock,
    paymentsMax: limits.recentPaymentsMax,
    eventsPerPaymentMax: limits.recentEventsPerPaymentMax,
  })
  const spent = createSpentGas(metrics)
  const vitals = registerProcessVitals(metrics)
  const startedAt = Math.floor(clock.now() / 1000)
  metrics.source('svc_build_info', () => [{ labels: { version }, value: 1 }])
  metrics.source('svc_start_time_seconds', () => startedAt)
  return {
    log(event) {
      deps.log(deps.linkMints ? event : unlinked(event))
      metrics.hear(event)
      recent.hear(event)
      spent.hear(event)
    },
    metrics,
    recent,
    spent,
    close: vitals.close,
  }
}

export type OperationDeps = {
  readonly telemetry: Telemetry
  readonly clock: Clock
  readonly chainId: number
  readonly profile: Profile
  readonly adminAuth: AdminAuth
  readonly probe: ChainProbe
  readonly clockWatch: ClockWatch
  /** What readiness asks, part by part. */
  readonly readinessProbes: readonly ReadinessProbe[]
  readonly issuance: Issuance
  readonly retryMint: ((nonce: ChallengeNonce) => void) | undefined
  readonly stuckTransfers: Following['stuck']
  /** Why nothing is minted here, if nothing is. */
  readonly finalizeOff: string | undefined
  readonly owed: OwedBooks
  readonly ledger: { readonly books: Books; openCount(): number; size(): number }
  readonly openChallengesMax: number
  readonly addresses: Pick<Addresses, 'ready' | 'target' | 'figures'>
  readonly relayer: { readonly address: Address; queue(): readonly QueuedTransaction[] }
  readonly journalStats: () => JournalStats | undefined
  readonly diskSpace: DiskSpace
}

/** Registers `/health`, `/ready`, `/openapi.json` and `/admin/*`. */
export function registerOperation(app: FastifyInstance, deps: OperationDeps): void {
  const { telemetry, clock, probe, ledger, relayer } = deps
  let problems: readonly ReadinessProblem[] | undefined
  let freeBytes: number | undefined

  const readiness: Readiness = async () => {
    problems = await askAll(deps.readinessProbes)
    return { problems }
  }
  const relayerBalance = () => {
    const view = probe.last()
    return view?.reachable ? view.relayerBalance : undefined
  }
  const diskSpace: DiskSpace = async () => {
    freeBytes = await deps.diskSpace()
    return freeBytes
  }

  registerGauges(deps, { relayerBalance, problems: () => problems, freeBytes: () => freeBytes })
  registerHealthApi(app, { readiness })
  registerAdminApi(app, {
    chainId: deps.chainId,
    profile: deps.profile,
    clock,
    auth: deps.adminAuth,
    books: ledger.books,
    owed: deps.owed,
    finalizeOff: deps.finalizeOff,
    issuance: deps.issuance,
    recent: telemetry.recent,
    retryMint: deps.retryMint,
    stuckTransfers: deps.stuckTransfers,
    readiness,
    async renderMetrics() {
      // Looks at chain, disk and books if nobody did lately, so that what is told is fresh.
      await Promise.all([readiness(), diskSpace(), deps.owed.look()])
      return telemetry.metrics.render()
    },
    vitals: {
      startedAtMs: clock.now(),
      openChallenges: ledger.openCount,
      openChallengesMax: deps.openChallengesMax,
      addressesReady: deps.addresses.ready,
      addressesTarget: deps.addresses.target,
      relayerAddress: relayer.address,
      relayerBalance,
      relayerQueue: relayer.queue,
      spent: telemetry.spent.of,
      chain: probe.last,
      clockSkewSeconds: deps.clockWatch.skewSeconds,
      journal: deps.journalStats,
      diskSpace,
    },
  })
}

function registerGauges(
  deps: OperationDeps,
  {
    relayerBalance,
    problems,
    freeBytes,
  }: {
    readonly relayerBalance: () => bigint | undefined
    readonly problems: () => readonly ReadinessProblem[] | undefined
    readonly freeBytes: () => number | undefined
  },
): void {
  const { probe, ledger, journalStats } = deps
  const { source } = deps.telemetry.metrics
  registerOwedGauges(deps)
  const orUndefined = (value: bigint | undefined) => (value === undefined ? undefined : Number(value))
  source('svc_ready', () => (problems()?.length === 0 ? 1 : 0))
  source('svc_issuance_paused', () => (deps.issuance.isPaused() ? 1 : 0))
  source('svc_challenges_open', ledger.openCount)
  source('svc_challenges_open_max', () => deps.openChallengesMax)
  source('svc_ledger_payments', ledger.size)
  source('svc_relayer_pending', () => deps.relayer.queue().length)
  source('svc_relayer_balance_wei', () => orUndefined(relayerBalance()))
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
  source('svc_journal_disk_free_bytes', freeBytes)
  source('svc_journal_records_total', () => journalStats()?.records)
  source('svc_journal_syncs_total', () => journalStats()?.syncs)
  source('svc_journal_bytes', () => journalStats()?.bytes)
  source('svc_journal_failed', () => {
    const stats = journalStats()
    return stats && (stats.failed ? 1 : 0)
  })
}

/** The first alert: the provider is not being paid. */
function registerOwedGauges({ owed, clock, telemetry }: OperationDeps): void {
  const { source } = telemetry.metrics
  source('svc_mints_awaiting', () => owed.last()?.payments)
  source('svc_mints_owed_base_units', () => {
    const value = owed.last()?.value
    return value === undefined ? undefined : Number(value)
  })
  source('svc_mints_oldest_seconds', () => {
    const known = owed.last()
    return known && (known.oldestAt === undefined ? 0 : Math.max(0, clock.now() / 1000 - known.oldestAt))
  })
  source('svc_mints_waiting', () => {
    const reasons = owed.last()?.reasons
    if (!reasons) return undefined
    // Reasons that nobody waits for are 0, not missing: an alert must see them fall.
    return (Object.keys(waitReasons) as WaitReason[]).map((reason) => ({
      labels: { reason },
      value: reasons.get(reason) ?? 0,
    }))
  })
}
