/** The administrative surface. Without the token every path beneath `/admin` answers 401, known or not. */
import { type ChallengeNonce, Network, type TokenLabel } from '@svc-zerc20/protocol'
import type { z } from 'zod'
import type { ChainView } from '../../chain/probe.js'
import type { Profile } from '../../config/settings.js'
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
import type { Readiness } from '../public/health.js'
import { noSuchPayment, routesOf } from '../route.js'
import type { PathGuard } from '../server.js'
import * as feeSchemas from './fee-schemas.js'
import { viewFees, viewSweepAnswer } from './fees.js'
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
  readonly guard: PathGuard
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

const route = routesOf<AdminApiDeps>({
  tag: 'admin',
  auth: 'admin',
  enter: (request, { guard }) => guard.refusalOf(request),
})

const lists = [
  route({
    method: 'GET',
    path: '/admin/challenges',
    summary: 'Open challenges, newest first',
    query: schemas.pageQuery,
    answer: schemas.challengePage,
    async handle({ query }, deps) {
      const { payments: challenges, next } = viewPage(
        await deps.books.page({ ...query, phase: 'open' }),
        deps,
      )
      const { open } = await deps.books.figures()
      return { open, max: deps.vitals.openChallengesMax, issuance: issuanceOf(deps), challenges, next }
    },
  }),

  route({
    method: 'GET',
    path: '/admin/payments',
    summary: 'Payments of every phase, newest first',
    query: schemas.paymentQuery,
    answer: schemas.paymentPage,
    handle: async ({ query }, deps) => viewPage(await deps.books.page(query), deps),
  }),

  route({
    method: 'GET',
    path: '/admin/late',
    summary: 'Burns that bought nothing: late ones, and transfers that cover no challenge',
    query: schemas.pageQuery,
    answer: schemas.oddBurns,
    async handle({ query }, deps) {
      const { books } = deps
      const { limit } = query
      const { payments: late, next } = viewPage(await books.page({ ...query, isLate: true }), deps)
      const { payments: demoted } = viewPage(await books.page({ isDemoted: true, limit }), deps)
      const stuck = (await deps.stuckTransfers(limit)).map(viewStuck)
      return { late, unmatched: await books.unmatched(limit), stuck, demoted, next }
    },
  }),
]

const onePayment = [
  route({
    method: 'GET',
    path: '/admin/payments/{challengeNonce}',
    summary: 'One payment and its turns',
    answer: schemas.paymentTimeline,
    async handle({ nonce }, { books, clock, owed, recent }) {
      const payment = await books.find(nonce)
      if (!payment) return noSuchPayment
      const now = clock.now()
      return {
        payment: viewPayment(payment, now, owed.waitOf),
        timeline: viewTimeline(payment, recent.of(nonce), now),
      }
    },
  }),

  route({
    method: 'POST',
    path: '/admin/payments/{challengeNonce}/retry',
    summary: 'Try the mint of a payment again now',
    answer: schemas.mintRetry,
    async handle({ nonce }, deps) {
      const payment = await deps.books.find(nonce)
      if (!payment) return noSuchPayment
      return { challengeNonce: nonce, mint: await retryMint(payment, deps.retryMint) }
    },
  }),

  route({
    method: 'POST',
    path: '/admin/payments/{challengeNonce}/close-epoch',
    summary: 'Mint what was left out of the epoch of a payment',
    answer: schemas.epochClose,
    async handle({ nonce }, { books, closeEpoch }) {
      const payment = await books.find(nonce)
      if (!payment) return noSuchPayment
      const closed = (await closeEpoch?.(payment.challenge)) ?? 'off'
      if (typeof closed !== 'number') return { challengeNonce: nonce, epoch: closed, transfers: 0 }
      return { challengeNonce: nonce, epoch: closed > 0 ? 'closing' : 'complete', transfers: closed }
    },
  }),
]

const money = [
  route({
    method: 'GET',
    path: '/admin/relayer',
    summary: 'Balances of the relayer and the minter, and their transactions in flight',
    answer: schemas.relayerView,
    async handle(_asked, { readiness, vitals }) {
      await readiness()
      const { relayer, minter } = vitals
      return {
        ...viewAccount(relayer),
        spent: viewSpent(vitals),
        queue: viewQueue(relayer),
        ...(minter && { minter: { ...viewAccount(minter), queue: viewQueue(minter) } }),
      }
    },
  }),

  route({
    method: 'GET',
    path: '/admin/fees',
    summary: 'Fees that are due, under way and swept',
    answer: feeSchemas.fees,
    handle: async (_asked, { fees }) => viewFees(await fees.view()),
  }),

  route({
    method: 'POST',
    path: '/admin/fees/sweep',
    summary: 'Sweep the fees that are due now, or only tell what would be swept',
    query: feeSchemas.sweepQuery,
    answer: feeSchemas.sweepAnswer,
    handle: async ({ query }, { fees }) =>
      viewSweepAnswer(await fees.sweepNow({ isDryRun: query.dryRun === 'true' })),
  }),
]

const issuance = [
  route({
    method: 'POST',
    path: '/admin/pause',
    summary: 'Issue no new challenges; everything under way goes on',
    query: schemas.pauseQuery,
    answer: schemas.issuance,
    async handle({ query }, deps) {
      await deps.issuance.pause(query.message)
      return { issuance: issuanceOf(deps) }
    },
  }),

  route({
    method: 'POST',
    path: '/admin/resume',
    summary: 'Issue challenges again',
    answer: schemas.issuance,
    async handle(_asked, deps) {
      await deps.issuance.resume()
      return { issuance: issuanceOf(deps) }
    },
  }),
]

export const adminRoutes = [
  route({
    method: 'GET',
    path: '/admin/status',
    summary: 'The daemon at a glance',
    answer: schemas.status,
    handle: (_asked, deps) => viewStatus(deps),
  }),

  ...lists,
  ...onePayment,
  ...money,
  ...issuance,

  route({
    method: 'GET',
    path: '/admin/metrics',
    summary: 'Metrics in the Prometheus text format',
    answer: { contentType: metricsContentType },
    handle: async ({ reply }, { renderMetrics }) =>
      reply.type(metricsContentType).send(await renderMetrics()),
  }),
]

const viewPage = ({ payments, next }: Page, { clock, owed }: AdminApiDeps) => ({
  payments: payments.map((payment) => viewPayment(payment, clock.now(), owed.waitOf)),
  next: next && viewCursor(next),
})

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
      spent: viewSpent(vitals),
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

function viewSpent({ spent }: AdminVitals) {
  const view = ({ transactions, gas, wei }: ReturnType<AdminVitals['spent']>) => ({
    transactions,
    gas: `${gas}`,
    wei: `${wei}`,
  })
  return { burn: view(spent('burn')), mint: view(spent('mint')) }
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
