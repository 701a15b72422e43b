/** The administrative surface. Without the token every path beneath `/admin` answers 401, known or not. */
import {
  type ChallengeNonce,
  Network,
  parseChallengeNonce,
  type ReasonCode,
  reject,
  type TokenLabel,
} from '@svc-zerc20/protocol'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { z } from 'zod'
import type { ChainView } from '../../chain/probe.js'
import { limits } from '../../config/limits.js'
import type { Profile } from '../../config/profile.js'
import { version } from '../../package.js'
import type { Books, Page } from '../../payment/books.js'
import type { StuckAddress } from '../../payment/found/judge-transfers.js'
import type { Issuance } from '../../payment/issue/issuance.js'
import type { OwedBooks } from '../../payment/owed.js'
import type { Clock } from '../../payment/ports.js'
import type { Challenge, RecordedPayment } from '../../payment/records.js'
import type { FeeControl } from '../../payment/sweep/control.js'
import type { EngineFigures } from '../../store/engine/engine.js'
import { metricsContentType } from '../../telemetry/metrics.js'
import type { RecentEvents } from '../../telemetry/recent.js'
import { sendRejection } from '../problem.js'
import type { Readiness } from '../public/health.js'
import type { AdminAuth } from './auth.js'
import { registerFees, viewFees } from './fees.js'
import * as schemas from './schemas.js'
import { viewCursor, viewPayment, viewStuck, viewTimeline } from './view.js'

/** An account that sends transactions. */
type SendingAccount = {
  readonly address: string
  /** Wei; undefined while the chain is out of reach. */
  balance(): bigint | undefined
  queue(): readonly {
    readonly txNonce: number
    readonly txHash: string
    readonly forms: number
    readonly signedAtMs: number
    readonly unfunded: boolean
  }[]
}

/** The parts of the running daemon that an operator looks at. Each is read when the operator looks. */
export type AdminVitals = {
  readonly startedAtMs: number
  readonly ledgerId: string
  /** What the token says of itself. */
  readonly token: TokenLabel | undefined
  readonly openChallengesMax: number
  addressesReady(): number
  readonly addressesTarget: number
  readonly relayer: SendingAccount
  /** The account that sends mints, when it is not the relayer. */
  readonly minter: SendingAccount | undefined
  /** Since the start. */
  spent(purpose: 'burn' | 'mint'): {
    readonly transactions: number
    readonly gas: bigint
    readonly wei: bigint
  }
  /** As last seen. */
  chain(): ChainView | undefined
  clockSkewSeconds(): number | undefined
  journal(): EngineFigures | undefined
  /** Undefined when no payment history is attached. */
  history(): { readonly records: number; readonly bytes: number; readonly failed: boolean } | undefined
  /** Bytes left under the journal; undefined without one. */
  diskSpace(): Promise<number | undefined>
}

export type AdminApiDeps = {
  readonly chainId: number
  readonly profile: Profile
  readonly clock: Clock
  readonly auth: AdminAuth
  readonly books: Books
  readonly issuance: Issuance
  readonly recent: RecentEvents
  readonly readiness: Readiness
  /** Tries the mint of a payment again. Absent while nothing is minted here. */
  readonly retryMint: ((nonce: ChallengeNonce) => Promise<void>) | undefined
  /** Mints what was left out of the epoch of a payment. Absent while nothing is minted here. */
  readonly closeEpoch: ((challenge: Challenge) => Promise<number | 'single' | 'running'>) | undefined
  /** The batch proof that the decider is asked for. Absent without a decider. */
  readonly deciderWait:
    | (() => { readonly sinceMs: number; readonly heardMs?: number } | undefined)
    | undefined
  readonly vitals: AdminVitals
  /** Addresses with money that a single proof does not bring; the newest, at most `limit`. */
  readonly stuckTransfers: (countMax: number) => Promise<readonly StuckAddress[]>
  readonly owed: OwedBooks
  /** When payments that are minted together have waited enough: so many, or so long. */
  readonly batchPace: { readonly least: number; readonly waitMaxMs: number }
  readonly fees: FeeControl
  /** Why nothing is minted here. Undefined when mints are made. */
  readonly finalizeOff: string | undefined
  readonly renderMetrics: () => Promise<string>
}

export function registerAdminApi(app: FastifyInstance, deps: AdminApiDeps): void {
  app.register(async (admin) => guardedRoutes(admin, deps), { prefix: '/admin' })
}

function guardedRoutes(admin: FastifyInstance, deps: AdminApiDeps): void {
  admin.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    if (deps.auth(request.headers.authorization)) return
    reply.header('www-authenticate', 'Bearer')
    return refuse(reply, deps, 'unauthorized')
  })
  // A handler for unknown paths beneath `/admin`, so that the guard above covers them, too.
  admin.setNotFoundHandler((_request, reply) => refuse(reply, deps, 'not_found'))

  admin.get('/status', () => viewStatus(deps))
  registerLists(admin, deps)
  registerRelayer(admin, deps)
  registerFees(admin, deps.fees, (reply, message) => refuse(reply, deps, 'malformed_request', message))

  admin.post('/pause', async (request, reply) => {
    const query = schemas.pauseQuery.safeParse(request.query)
    if (!query.success)
      return refuse(reply, deps, 'malformed_request', 'message: one line, at most 200 characters')
    await deps.issuance.pause(query.data.message)
    return { issuance: issuanceOf(deps) }
  })

  admin.post('/resume', async () => {
    await deps.issuance.resume()
    return { issuance: issuanceOf(deps) }
  })

  admin.get('/metrics', async (_request, reply) =>
    reply.type(metricsContentType).send(await deps.renderMetrics()),
  )
}

async function viewStatus(deps: AdminApiDeps) {
  const { chainId, clock, vitals } = deps
  const { problems } = await deps.readiness()
  const journal = vitals.journal()
  const history = vitals.history()
  const freeBytes = await vitals.diskSpace()
  return {
    version,
    network: Network.format(chainId),
    ...(vitals.token && { token: vitals.token }),
    profile: deps.profile.name,
    acceptsPayments: deps.profile.acceptsPayments,
    ledgerId: vitals.ledgerId,
    startedAt: inSeconds(vitals.startedAtMs),
    now: inSeconds(clock.now()),
    issuance: issuanceOf(deps),
    ready: problems.length === 0,
    problems,
    payments: { ...(await deps.books.counts()), demoted: (await deps.owed.look()).demoted.payments },
    mints: await viewOwed(deps),
    fees: viewFees(await deps.fees.view()),
    chain: viewChain(vitals),
    challenges: { open: (await deps.books.figures()).open, max: vitals.openChallengesMax },
    addresses: { ready: vitals.addressesReady(), target: vitals.addressesTarget },
    relayer: {
      ...viewAccount(vitals.relayer),
      spent: { burn: viewSpent(vitals, 'burn'), mint: viewSpent(vitals, 'mint') },
    },
    ...(vitals.minter && { minter: viewAccount(vitals.minter) }),
    ...(history && { history }),
    ...(journal && { journal: { ...journal, ...(freeBytes !== undefined && { freeBytes }) } }),
  }
}

async function viewOwed({ owed, finalizeOff, clock, batchPace, deciderWait }: AdminApiDeps) {
  const { payments, value, oldestAt, reasons, gathering } = await owed.look()
  const wait = deciderWait?.()
  return {
    awaiting: payments,
    owed: `${value}`,
    ...(wait && {
      decider: {
        since: inSeconds(wait.sinceMs),
        ...(wait.heardMs !== undefined && { heardAt: inSeconds(wait.heardMs) }),
      },
    }),
    ...(oldestAt !== undefined && {
      oldestAt,
      oldestSeconds: Math.max(0, inSeconds(clock.now()) - oldestAt),
    }),
    reasons: Object.fromEntries(reasons),
    ...(gathering.length > 0 && {
      nextBatches: gathering.map((epoch) => ({
        payments: epoch.payments,
        of: batchPace.least,
        latestAt: epoch.oldestAt + Math.ceil(batchPace.waitMaxMs / 1000),
      })),
    }),
    ...(finalizeOff !== undefined && { off: finalizeOff }),
  }
}

function viewChain({ chain, clockSkewSeconds }: AdminVitals) {
  const view = chain()
  const skew = clockSkewSeconds()
  if (!view?.reachable) return { reachable: false }
  return {
    reachable: true,
    head: `${view.headNumber}`,
    roundTripMs: Math.round(view.roundTripMs),
    ...(skew !== undefined && { clockSkewSeconds: skew }),
  }
}

function viewSpent({ spent }: AdminVitals, purpose: 'burn' | 'mint') {
  const { transactions, gas, wei } = spent(purpose)
  return { transactions, gas: `${gas}`, wei: `${wei}` }
}

function registerLists(admin: FastifyInstance, deps: AdminApiDeps): void {
  const { clock, books, vitals, recent, owed } = deps
  const viewPage = ({ payments, next }: Page) => ({
    payments: payments.map((payment) => viewPayment(payment, clock.now(), owed.waitOf)),
    ...(next && { next: viewCursor(next) }),
  })

  admin.get('/challenges', async (request, reply) => {
    const query = readQuery(schemas.pageQuery, request.query)
    if ('problem' in query) return refuse(reply, deps, 'malformed_request', query.problem)
    const { payments, ...rest } = viewPage(await books.page({ ...query.value, phase: 'open' }))
    const { open } = await books.figures()
    return { open, max: vitals.openChallengesMax, issuance: issuanceOf(deps), challenges: payments, ...rest }
  })

  admin.get('/payments', async (request, reply) => {
    const query = readQuery(schemas.paymentQuery, request.query)
    if ('problem' in query) return refuse(reply, deps, 'malformed_request', query.problem)
    return viewPage(await books.page(query.value))
  })

  admin.get<{ Params: { challengeNonce: string } }>('/payments/:challengeNonce', async (request, reply) => {
    const nonce = parseChallengeNonce(request.params.challengeNonce)
    const payment = nonce && (await books.find(nonce))
    if (!payment) return refuse(reply, deps, 'not_found', 'no such payment')
    const now = clock.now()
    return {
      payment: viewPayment(payment, now, owed.waitOf),
      timeline: viewTimeline(payment, recent.of(payment.challenge.nonce), now),
    }
  })

  admin.post<{ Params: { challengeNonce: string } }>(
    '/payments/:challengeNonce/retry',
    async (request, reply) => {
      const nonce = parseChallengeNonce(request.params.challengeNonce)
      const payment = nonce && (await books.find(nonce))
      if (!payment) return refuse(reply, deps, 'not_found', 'no such payment')
      return { challengeNonce: payment.challenge.nonce, mint: await retryMint(payment, deps.retryMint) }
    },
  )

  admin.post<{ Params: { challengeNonce: string } }>(
    '/payments/:challengeNonce/close-epoch',
    async (request, reply) => {
      const nonce = parseChallengeNonce(request.params.challengeNonce)
      const payment = nonce && (await books.find(nonce))
      if (!payment) return refuse(reply, deps, 'not_found', 'no such payment')
      const closed = (await deps.closeEpoch?.(payment.challenge)) ?? 'off'
      const left = typeof closed === 'number'
      return {
        challengeNonce: payment.challenge.nonce,
        epoch: left ? (closed > 0 ? 'closing' : 'complete') : closed,
        transfers: left ? closed : 0,
      }
    },
  )

  admin.get('/late', async (request, reply) => {
    const query = readQuery(schemas.pageQuery, request.query)
    if ('problem' in query) return refuse(reply, deps, 'malformed_request', query.problem)
    const { payments, ...rest } = viewPage(await books.page({ ...query.value, isLate: true }))
    const { limit } = query.value
    const stuck = (await deps.stuckTransfers(limit)).map(viewStuck)
    const { payments: demoted } = viewPage(await books.page({ isDemoted: true, limit }))
    return { late: payments, unmatched: await books.unmatched(limit), stuck, demoted, ...rest }
  })
}

async function retryMint(
  { challenge, accepted, late, finalized }: RecordedPayment,
  retry: AdminApiDeps['retryMint'],
): Promise<z.infer<typeof schemas.mintRetry>['mint']> {
  if (finalized) return 'finalized'
  if (!accepted && !late) return 'not_burned'
  if (!retry) return 'off'
  await retry(challenge.nonce)
  return 'due'
}

function registerRelayer(admin: FastifyInstance, { readiness, vitals }: AdminApiDeps): void {
  admin.get('/relayer', async () => {
    await readiness()
    const { relayer, minter } = vitals
    return {
      ...viewAccount(relayer),
      spent: { burn: viewSpent(vitals, 'burn'), mint: viewSpent(vitals, 'mint') },
      queue: viewQueue(relayer),
      ...(minter && { minter: { ...viewAccount(minter), queue: viewQueue(minter) } }),
    }
  })
}

function viewAccount({ address, balance, queue }: SendingAccount) {
  const wei = balance()
  return { address, ...(wei !== undefined && { balance: `${wei}` }), pending: queue().length }
}

const viewQueue = ({ queue }: SendingAccount) =>
  queue().map(({ txNonce, signedAtMs, ...rest }) => ({
    nonce: txNonce,
    ...rest,
    signedAt: inSeconds(signedAtMs),
  }))

const inSeconds = (ms: number) => Math.floor(ms / 1000)

const issuanceOf = ({ issuance }: AdminApiDeps) => (issuance.isPaused() ? 'paused' : 'open')

const refuse = (reply: FastifyReply, { chainId }: AdminApiDeps, reason: ReasonCode, message?: string) =>
  sendRejection(reply, reject(reason, message), { surface: 'plain', chainId })

/** Invalid values of a query are refused, not guessed. Unknown keys are ignored. */
function readQuery<T extends { limit?: number | undefined }>(
  schema: z.ZodType<T>,
  query: unknown,
): { readonly value: T & { limit: number } } | { readonly problem: string } {
  const read = schema.safeParse(query)
  if (read.success) return { value: { ...read.data, limit: read.data.limit ?? limits.pageSize } }
  const issue = read.error.issues[0]
  return { problem: `${issue?.path.join('.') || 'query'}: ${issue?.message ?? 'malformed'}` }
}
