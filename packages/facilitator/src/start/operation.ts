/** The operator's side of the daemon: what is counted and remembered of its work, and the routes that show it. */
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import type { FastifyInstance } from 'fastify'
import type { Addresses } from '../adapters/addresses.js'
import type { ChainProbe } from '../adapters/chain-probe.js'
import type { JournalStats } from '../adapters/journal.js'
import { registerProcessVitals } from '../adapters/process-vitals.js'
import type { QueuedTransaction } from '../adapters/relayer.js'
import { registerAdminApi } from '../http/admin-api.js'
import type { AdminAuth } from '../http/admin-auth.js'
import { type Readiness, registerHealthApi } from '../http/health-api.js'
import { limits } from '../limits.js'
import type { Books } from '../payment/books.js'
import type { Issuance } from '../payment/issuance.js'
import type { Clock } from '../payment/ports.js'
import type { Profile } from '../profile.js'
import type { Log } from '../telemetry/events.js'
import { createMetrics, type Metrics } from '../telemetry/metrics.js'
import { createRecentEvents, type RecentEvents } from '../telemetry/recent.js'
import { version } from '../version.js'
import type { Following } from './following.js'
import { judgeReadiness, type ReadinessProblem } from './readiness.js'

export type Telemetry = {
  /** Tells the log, the metrics and the recent events. */
  readonly log: Log
  readonly metrics: Metrics
  readonly recent: RecentEvents
  /** When the disk last refused a journal record, in milliseconds since 1970. */
  journalFailedAtMs(): number
  close(): void
}

export function createTelemetry({ log, clock }: { log: Log; clock: Clock }): Telemetry {
  const metrics = createMetrics()
  const recent = createRecentEvents({
    clock,
    paymentsMax: limits.recentPaymentsMax,
    eventsPerPaymentMax: limits.recentEventsPerPaymentMax,
  })
  let journalFailedAtMs = 0
  const vitals = registerProcessVitals(metrics)
  const startedAt = Math.floor(clock.now() / 1000)
  metrics.source('svc_build_info', () => [{ labels: { version }, value: 1 }])
  metrics.source('svc_start_time_seconds', () => startedAt)
  return {
    log(event) {
      log(event)
      metrics.hear(event)
      recent.hear(event)
      if (event.event === 'journal.failed') journalFailedAtMs = clock.now()
    },
    metrics,
    recent,
    journalFailedAtMs: () => journalFailedAtMs,
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
  readonly issuance: Issuance
  readonly retryMint: ((nonce: ChallengeNonce) => void) | undefined
  readonly stuckTransfers: Following['stuck']
  readonly ledger: { readonly books: Books; openCount(): number; size(): number }
  readonly openChallengesMax: number
  readonly addresses: Pick<Addresses, 'ready' | 'target' | 'figures'>
  readonly relayer: {
    readonly address: Address
    /** Whether it has burns to pay for. */
    readonly isUsed: boolean
    queue(): readonly QueuedTransaction[]
  }
  readonly journalStats: () => JournalStats | undefined
}

/** Registers `/health`, `/ready`, `/openapi.json` and `/admin/*`. */
export function registerOperation(app: FastifyInstance, deps: OperationDeps): void {
  const { telemetry, clock, probe, ledger, relayer } = deps
  let problems: readonly ReadinessProblem[] | undefined

  const readiness: Readiness = async () => {
    const wroteLately = clock.now() - telemetry.journalFailedAtMs() >= limits.journalRetryAfterMs
    problems = judgeReadiness({
      chain: await probe.look(),
      chainId: deps.chainId,
      burnGas: relayer.isUsed ? limits.batchBaseGas + limits.burnItemGas : undefined,
      addressesReady: deps.addresses.ready(),
      journalLost: deps.journalStats()?.lost === true,
      journalFailed: deps.journalStats()?.failed === true && !wroteLately,
    })
    return { problems }
  }
  const relayerBalance = () => {
    const view = probe.last()
    return view?.reachable ? view.relayerBalance : undefined
  }

  registerGauges(deps, relayerBalance, () => problems)
  registerHealthApi(app, { readiness })
  registerAdminApi(app, {
    chainId: deps.chainId,
    profile: deps.profile,
    clock,
    auth: deps.adminAuth,
    books: ledger.books,
    issuance: deps.issuance,
    recent: telemetry.recent,
    retryMint: deps.retryMint,
    stuckTransfers: deps.stuckTransfers,
    readiness,
    renderMetrics: telemetry.metrics.render,
    vitals: {
      startedAtMs: clock.now(),
      openChallenges: ledger.openCount,
      openChallengesMax: deps.openChallengesMax,
      addressesReady: deps.addresses.ready,
      addressesTarget: deps.addresses.target,
      relayerAddress: relayer.address,
      relayerBalance,
      relayerQueue: relayer.queue,
      journal: deps.journalStats,
    },
  })
}

function registerGauges(
  deps: OperationDeps,
  relayerBalance: () => bigint | undefined,
  problems: () => readonly ReadinessProblem[] | undefined,
): void {
  const { probe, ledger, journalStats } = deps
  const { source } = deps.telemetry.metrics
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
  source('svc_journal_records_total', () => journalStats()?.records)
  source('svc_journal_syncs_total', () => journalStats()?.syncs)
  source('svc_journal_bytes', () => journalStats()?.bytes)
  source('svc_journal_failed', () => {
    const stats = journalStats()
    return stats && (stats.failed ? 1 : 0)
  })
}
