/** The routes of the daemon on one server. */
import { type ConnectionBounds, limitConnections } from '@svc-zerc20/daemon'
import type { FastifyInstance } from 'fastify'
import type { AddressPool } from '../addresses/pool.js'
import { createChainProbe } from '../chain/probe.js'
import type { Config } from '../config/config.js'
import { limits } from '../config/limits.js'
import { mintSettingsOf, sellerKey, sellerRatesOf } from '../config/settings.js'
import { adminRoutes } from '../http/admin/api.js'
import { adminGuard, createAdminAuth } from '../http/admin/auth.js'
import { type Admission, createAdmission, type Seller } from '../http/admission.js'
import { openApiDocument } from '../http/document.js'
import { createClockWatch } from '../http/health/clock-watch.js'
import { askAll, createDiskSpace, createReadinessProbes } from '../http/health/readiness.js'
import { packedText } from '../http/packed-text.js'
import { healthRoutes, type Readiness } from '../http/public/health.js'
import { paymentRoutes } from '../http/public/payments.js'
import { observeAnswers, refuseConnections } from '../http/request-hooks.js'
import { registerRoutes } from '../http/route.js'
import { createServer, type PathGuard } from '../http/server.js'
import { createUnderWay, measureDelay, type UnderWay } from '../http/under-way.js'
import { registerWebPages } from '../http/web-pages.js'
import { createIssuance, type Issuance } from '../payment/issue/issuance.js'
import { createOwedBooks } from '../payment/owed.js'
import type { Challenge } from '../payment/records.js'
import { leaseLost } from '../store/lease.js'
import type { HistorySide } from './history-side.js'
import { activeLease, type LeasedSideKeeper } from './keep-leased-side.js'
import type { Parts } from './parts.js'

type HttpSideDeps = Parts & {
  readonly addresses: AddressPool
  readonly keeper: Pick<LeasedSideKeeper, 'current' | 'isActive'>
  /** Absent when no payment history is attached. */
  readonly historySide: HistorySide | undefined
}

export function createHttpSide(deps: HttpSideDeps): FastifyInstance {
  const { config, telemetry } = deps
  const { log, metrics } = telemetry
  const adminAuth = createAdminAuth(deps.secrets.adminToken)
  const bounds = connectionBoundsOf(config)
  const admission = admissionOf(deps)
  const historyApi = deps.historySide?.(admission)
  const admin = adminGuard(adminAuth, deps.clock)
  const unrouted: PathGuard = {
    path: '/',
    refusalOf: async (request) => admission.aside(request, 'unrouted'),
  }
  const app = createServer({
    guards: [admin, ...(historyApi ? [historyApi.guard] : []), unrouted],
    chainId: deps.chainSide.deployment.chainId,
    trustedProxies: config.listen.trusted_proxies,
    bodyBytesMax: limits.bodyBytesMax,
    connections: bounds,
    log,
    isStandby: () => !deps.keeper.isActive(),
  })
  const connections = limitConnections(app.server, bounds)
  observeAnswers(app, metrics)
  refuseConnections(app, {
    connections,
    isKnown: (request) => admission.isSeller(request) || adminAuth(request.headers.authorization),
  })
  const issuance = createIssuance({ report: log, ledger: deps.storage.ledger })
  const loop = measureDelay(limits.loopDelayTickMs)
  app.addHook('onClose', async () => loop.close())
  wirePayments(app, deps, { admission, underWay: createUnderWay(limits.underWay, loop.delayMs) })
  historyApi?.register(app)
  wireOperator(app, deps, { issuance, admission, guard: admin })
  registerWebPages(app, {
    hasDashboard: deps.secrets.adminToken !== undefined,
    hasHistory: historyApi !== undefined,
    admission,
  })
  return app
}

function admissionOf({ config, clock, telemetry: { log } }: HttpSideDeps): Admission {
  return createAdmission({
    sellers: sellersOf(config),
    strangers: {
      ratePerMin: config.daemon.rate_limit_per_min,
      issuancePerMin: config.daemon.challenge_per_key_per_min,
    },
    clock,
    log,
  })
}

function wirePayments(
  app: FastifyInstance,
  deps: HttpSideDeps,
  { admission, underWay }: { readonly admission: Admission; readonly underWay: UnderWay },
): void {
  const { profile } = deps
  // A request that is held up while the lease changes hands is of the side that it came to.
  const flow = () => deps.keeper.current().flow
  const { log } = deps.telemetry
  registerRoutes(app, paymentRoutes, {
    chainId: deps.chainSide.deployment.chainId,
    profile,
    issueChallenge: (...asked) => flow().issueChallenge(...asked),
    verify: (...asked) => flow().verify(...asked),
    settle: (...asked) => flow().settle(...asked),
    status: (nonce) => flow().status(nonce),
    ledger: deps.storage.ledger,
    admission,
    underWay,
    onGrantFailure: (err) => log({ event: 'request.failed', route: '/settle', err }),
  })
}

function wireOperator(
  app: FastifyInstance,
  deps: HttpSideDeps,
  {
    issuance,
    admission,
    guard,
  }: {
    readonly issuance: Issuance
    readonly admission: Admission
    readonly guard: PathGuard
  },
): void {
  const { config, storage, clock } = deps
  const { current: leased, isActive } = deps.keeper
  const { rpc, deployment } = deps.chainSide
  const { finalization, senders } = leased()
  const actions = createOperatorActions(deps.keeper, storage.fleet)
  const { ledger, figures: journalFigures } = storage
  const clockWatch = createClockWatch()
  const probe = createChainProbe({
    rpc,
    relayer: senders.relayer.address,
    minter: senders.minter?.address,
    clock,
    onAnswer: (view) => clockWatch.saw({ ...view, localMs: clock.now() }),
  })
  const diskSpace =
    config.settlement.journal !== 'none' ? createDiskSpace(config.settlement.journal) : async () => undefined
  const finalizeOff = finalization.off
  const { minter } = senders
  const readinessProbes = createReadinessProbes({
    ...deps,
    deployment,
    finalizeOff,
    probe,
    clockWatch,
    diskSpace,
  })
  const readiness: Readiness = async () => ({
    problems: isActive() ? await askAll(readinessProbes) : standingBy,
  })
  registerRoutes(app, healthRoutes, {
    readiness,
    document: packedText(() => JSON.stringify(openApiDocument())),
    admission,
  })
  registerRoutes(app, adminRoutes, {
    telemetry: deps.telemetry,
    profile: deps.profile,
    addresses: deps.addresses,
    clock,
    guard,
    issuance,
    probe,
    clockWatch,
    diskSpace,
    finalizeOff,
    ledger,
    readiness,
    journalFigures,
    fleet: storage.fleet,
    // The leased side may be another one by the next question.
    fees: { view: () => leased().fees.view(), sweepNow: actions.sweepNow },
    relayer: { address: senders.relayer.address, queue: () => leased().senders.relayer.queue() },
    minter: minter && { address: minter.address, queue: () => leased().senders.minter?.queue() ?? [] },
    chainId: deployment.chainId,
    startedAtMs: clock.now(),
    ledgerId: storage.id,
    token: deployment.tokenLabel,
    historyStats: () => storage.history?.stats(),
    retryMint: finalization.retry && actions.retryMint,
    deciderWait: finalization.deciderWait && (() => leased().finalization.deciderWait?.()),
    indexerStatus: finalization.indexerStatus,
    mintSettings: mintSettingsOf(config, minter !== undefined),
    stuckTransfers: (countMax) => leased().following.stuck(countMax),
    owed: createOwedBooks({
      ledger,
      waits: finalization.waits && (() => leased().finalization.waits),
      isElsewhere: () => !isActive(),
    }),
    batchPace: { least: config.finalize.batch_least, waitMaxMs: config.finalize.batch_wait_max_ms },
    openChallengesMax: config.daemon.max_open_challenges,
  })
}

const standingBy = [{ part: 'standby', problem: 'another daemon is active for the ledger' }] as const

/** Actions of the operator. Throws `lease_lost`, with its name, where only the daemon that works can do it. */
export function createOperatorActions(
  { current: leased, isActive }: HttpSideDeps['keeper'],
  fleet: Parts['storage']['fleet'],
) {
  const working = async () => {
    if (isActive()) return leased()
    const work = (await fleet?.())?.leases.find(({ name }) => name === activeLease)
    throw leaseLost(work?.holder && `${work.holder} works for this ledger: ask that daemon`)
  }
  return {
    sweepNow: async (options: { readonly isDryRun: boolean }) =>
      (options.isDryRun ? leased() : await working()).fees.sweepNow(options),
    /** Any daemon can put a payment forward in the store. */
    retryMint: async ({ nonce }: Pick<Challenge, 'nonce'>) => leased().finalization.retry?.(nonce),
  }
}

const sellersOf = (config: Config): Seller[] =>
  config.sellers.map((seller) => ({
    key: sellerKey(seller.name),
    tokenSha256: seller.token_sha256,
    ...sellerRatesOf(config, seller),
  }))

function connectionBoundsOf({ listen, settlement }: Config): ConnectionBounds {
  return {
    headMs: limits.headMs,
    requestMs: limits.requestMs,
    pollMs: limits.connectionPollMs,
    keptMs: limits.keptConnectionMs,
    // A settle waits for the receipt, and then perhaps for the caller that holds the grant.
    silentMs: limits.silentConnectionMs + 2 * settlement.receipt_poll_ms,
    max: limits.connectionsMax,
    areCallersTold: listen.trusted_proxies === undefined,
    turnedAwayMax: limits.turnedAwayMax,
    turnedAwayMs: limits.turnedAwayMs,
    sentAwayMax: limits.sentAwayMax,
  }
}
