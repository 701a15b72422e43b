/** The operator's routes, wired to every part of the daemon. */
import type { Address, ChallengeNonce, TokenLabel } from '@svc-zerc20/protocol'
import type { FastifyInstance } from 'fastify'
import type { Addresses } from '../addresses/addresses.js'
import type { ChainProbe } from '../chain/probe.js'
import type { Profile } from '../config/settings.js'
import type { HistoryFileStats } from '../history/history-file.js'
import { adminRoutes } from '../http/admin/api.js'
import { openApiDocument } from '../http/document.js'
import type { ClockWatch } from '../http/health/clock-watch.js'
import type { DiskSpace } from '../http/health/disk-space.js'
import { registerGauges } from '../http/health/gauges.js'
import { askAll, type ReadinessProbe, type ReadinessProblem } from '../http/health/readiness.js'
import { healthRoutes, type Readiness } from '../http/public/health.js'
import { registerRoutes } from '../http/route.js'
import type { PathGuard } from '../http/server.js'
import type { Books, LedgerFigures } from '../payment/books.js'
import type { Issuance } from '../payment/issue/issuance.js'
import type { OwedBooks } from '../payment/owed.js'
import type { Clock } from '../payment/ports.js'
import type { FeeControl } from '../payment/sweep/control.js'
import type { QueuedTransaction } from '../sending/relayer/relayer.js'
import type { EngineFigures } from '../store/engine/engine.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import type { CloseEpoch, Finalization } from './finalization.js'
import type { Following } from './following.js'

type SendingAccount = { readonly address: Address; queue(): readonly QueuedTransaction[] }

export type OperatorDeps = {
  readonly telemetry: Telemetry
  readonly clock: Clock
  readonly chainId: number
  readonly profile: Profile
  readonly admin: PathGuard
  readonly probe: ChainProbe
  readonly clockWatch: ClockWatch
  /** Readiness asks these, part by part. */
  readonly readinessProbes: readonly ReadinessProbe[]
  readonly issuance: Issuance
  readonly retryMint: ((nonce: ChallengeNonce) => Promise<void>) | undefined
  readonly closeEpoch: CloseEpoch | undefined
  readonly deciderWait: Finalization['deciderWait']
  readonly stuckTransfers: Following['stuck']
  /** Why nothing is minted here. Undefined when mints are made. */
  readonly finalizeOff: string | undefined
  readonly owed: OwedBooks
  readonly batchPace: { readonly least: number; readonly waitMaxMs: number }
  readonly fees: FeeControl
  readonly ledger: { readonly books: Books }
  readonly openChallengesMax: number
  readonly addresses: Pick<Addresses, 'ready' | 'target' | 'figures'>
  readonly relayer: SendingAccount
  /** The account that sends mints, when it is not the relayer. */
  readonly minter: SendingAccount | undefined
  readonly ledgerId: string
  readonly token: TokenLabel | undefined
  readonly journalFigures: () => EngineFigures | undefined
  readonly historyStats: () => HistoryFileStats | undefined
  readonly diskSpace: DiskSpace
}

/** Registers `/health`, `/ready`, `/openapi.json` and `/admin/*`. */
export function registerOperatorRoutes(app: FastifyInstance, deps: OperatorDeps): void {
  const { telemetry, clock, probe, ledger, relayer, minter } = deps
  let problems: readonly ReadinessProblem[] | undefined
  let freeBytes: number | undefined
  let figures: LedgerFigures | undefined

  const readiness: Readiness = async () => {
    problems = await askAll(deps.readinessProbes)
    return { problems }
  }
  const relayerBalance = () => {
    const view = probe.last()
    return view?.reachable ? view.relayerBalance : undefined
  }
  const minterBalance = () => {
    const view = probe.last()
    return view?.reachable ? view.minterBalance : undefined
  }
  const diskSpace: DiskSpace = async () => {
    freeBytes = await deps.diskSpace()
    return freeBytes
  }

  registerGauges({
    ...deps,
    metrics: telemetry.metrics,
    relayerBalance,
    minterBalance,
    problems: () => problems,
    freeBytes: () => freeBytes,
    ledgerFigures: () => figures,
  })
  let document: string | undefined
  const documentOnce = () => {
    document ??= JSON.stringify(openApiDocument())
    return document
  }
  registerRoutes(app, healthRoutes, { readiness, document: documentOnce })
  registerRoutes(app, adminRoutes, {
    chainId: deps.chainId,
    profile: deps.profile,
    clock,
    guard: deps.admin,
    books: ledger.books,
    owed: deps.owed,
    batchPace: deps.batchPace,
    fees: deps.fees,
    finalizeOff: deps.finalizeOff,
    issuance: deps.issuance,
    recent: telemetry.recent,
    retryMint: deps.retryMint,
    closeEpoch: deps.closeEpoch,
    deciderWait: deps.deciderWait,
    stuckTransfers: deps.stuckTransfers,
    readiness,
    async renderMetrics() {
      // Looks at chain, disk and books unless a recent look exists, so that the answer is fresh.
      await Promise.all([readiness(), diskSpace(), deps.owed.look(), deps.fees.view()])
      figures = await ledger.books.figures()
      return telemetry.metrics.render()
    },
    vitals: {
      startedAtMs: clock.now(),
      ledgerId: deps.ledgerId,
      token: deps.token,
      openChallengesMax: deps.openChallengesMax,
      addressesReady: deps.addresses.ready,
      addressesTarget: deps.addresses.target,
      relayer: { address: relayer.address, balance: relayerBalance, queue: relayer.queue },
      minter: minter && { address: minter.address, balance: minterBalance, queue: minter.queue },
      spent: telemetry.spent.of,
      chain: probe.last,
      clockSkewSeconds: deps.clockWatch.skewSeconds,
      journal: deps.journalFigures,
      history: deps.historyStats,
      diskSpace,
    },
  })
}
